//! The names of the ready-made sets of tools.

/// The name of a ready-made set of tools; which tools are in it is known elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ProfileName {
    Minimal,
    Coding,
    Messaging,
    Gateway,
    Full,
}

impl ProfileName {
    /// Every variant, in the order they are shown.
    pub const ALL: [Self; 5] =
        [Self::Minimal, Self::Coding, Self::Messaging, Self::Gateway, Self::Full];

    /// The names people write, in the same order.
    pub(crate) const NAMES: &'static [&'static str] = &[
        Self::Minimal.name(),
        Self::Coding.name(),
        Self::Messaging.name(),
        Self::Gateway.name(),
        Self::Full.name(),
    ];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Coding => "coding",
            Self::Messaging => "messaging",
            Self::Gateway => "gateway",
            Self::Full => "full",
        }
    }
}
