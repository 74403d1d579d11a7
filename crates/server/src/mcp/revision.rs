//! The revisions of the protocol.

/// A revision of the protocol, by its date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Revision {
    V2024_11_05,
    V2025_06_18,
    V2025_11_25,
    V2026_07_28,
}

impl Revision {
    /// Every one that is spoken here, the newest first.
    pub const ALL: [Self; 4] =
        [Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18, Self::V2024_11_05];

    /// As it is written on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The one with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// Whether every request stands for itself; before that there were sessions.
    pub const fn is_stateless(self) -> bool {
        matches!(self, Self::V2026_07_28)
    }

    /// What a session speaks whose client begins it with `wanted`.
    pub(super) fn agreed(wanted: &str) -> Self {
        // The one in which several messages may come at once, which are not understood here: whoever speaks it
        // came before the next one, and knows the one before.
        if wanted == "2025-03-26" {
            return Self::V2024_11_05;
        }
        let known = Self::find(wanted).filter(|revision| !revision.is_stateless());
        known.unwrap_or(Self::V2025_11_25)
    }
}
