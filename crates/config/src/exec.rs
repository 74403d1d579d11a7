//! The sections `tools.exec`, `tools.sandbox` and `tools.elevated`.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use tool::{Ask, Place};

use crate::{Hosts, SafeBin, Spanned};

/// How commands run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec {
    /// Where, unless a call says otherwise.
    pub host: Spanned<Place>,
    /// Which commands.
    pub security: Spanned<Security>,
    /// When a person is asked about a command; unset is as about everything else.
    pub ask: Option<Spanned<Ask>>,
    /// How long a command may run.
    pub timeout: Spanned<Duration>,
    /// Variables of our environment that commands get.
    pub env: Spanned<Vec<Spanned<String>>>,
    /// Whom commands reach.
    pub network: ExecNetwork,
    /// Programs known to be harmless besides the built-in list, by their number in the file.
    pub safe_bins: BTreeMap<String, SafeBin>,
    /// Folders besides the system's own whose programs can be harmless.
    pub trusted_folders: Spanned<Vec<Spanned<PathBuf>>>,
}

impl Default for Exec {
    fn default() -> Self {
        Self {
            host: Place::Sandbox.into(),
            security: Spanned::default(),
            ask: None,
            timeout: Duration::from_mins(30).into(),
            env: Vec::new().into(),
            network: ExecNetwork::default(),
            safe_bins: BTreeMap::new(),
            trusted_folders: Vec::new().into(),
        }
    }
}

/// Whom commands reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExecNetwork {
    /// These hosts, and no others.
    pub allow: Hosts,
    /// Whether that list counts.
    pub access: Spanned<Access>,
}

/// How far commands get on the network.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Access {
    /// To the hosts that are listed; where none are, a command that needs the network is asked about,
    /// and reaches public hosts if a person agrees.
    #[default]
    Ask,
    /// To the hosts that are listed, and no others.
    Listed,
    /// Everywhere.
    Full,
}

impl Access {
    /// Every variant.
    pub const ALL: [Self; 3] = [Self::Ask, Self::Listed, Self::Full];

    /// The names people write, in the same order.
    pub(crate) const NAMES: &'static [&'static str] =
        &[Self::Ask.name(), Self::Listed.name(), Self::Full.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Listed => "listed",
            Self::Full => "full",
        }
    }
}

/// Which commands run at all; a later one is stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Security {
    /// Any, in the sandbox.
    #[default]
    Full,
    /// Those known to be harmless; others only if a person agrees.
    SafeBin,
    /// Those known to be harmless, and nothing else.
    Paranoid,
}

impl Security {
    /// Every variant, mildest first.
    pub const ALL: [Self; 3] = [Self::Full, Self::SafeBin, Self::Paranoid];

    /// The names people write, in the same order.
    pub(crate) const NAMES: &'static [&'static str] =
        &[Self::Full.name(), Self::SafeBin.name(), Self::Paranoid.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::SafeBin => "safe-bin",
            Self::Paranoid => "paranoid",
        }
    }
}

/// What the sandbox of a command offers and takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Isolation {
    /// The least a machine must offer.
    pub minimum: Spanned<Minimum>,
    /// Folders besides the system's own that commands can read.
    pub read: Spanned<Vec<Spanned<PathBuf>>>,
    /// Memory of all its processes; unset is a quarter of the machine's, at least 2 GB.
    pub memory: Option<Spanned<u64>>,
    /// Processes and threads.
    pub processes: Option<Spanned<u32>>,
    /// Open files of one process.
    pub open_files: Option<Spanned<u32>>,
    /// What it may write in all.
    pub written: Option<Spanned<u64>>,
    /// Processor time, in per cent of one core.
    pub cpu_percent: Option<Spanned<u32>>,
}

/// The least a machine must offer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Minimum {
    /// Whatever it offers, if that is isolation at all. People are told where it is not full.
    #[default]
    Auto,
    /// Namespaces, an overlay of the workspace, and limits for all processes together.
    Full,
    /// Landlock and seccomp alone; nobody needs to be told.
    Reduced,
}

impl Minimum {
    /// Every variant.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Full, Self::Reduced];

    /// The names people write, in the same order.
    pub(crate) const NAMES: &'static [&'static str] =
        &[Self::Auto.name(), Self::Full.name(), Self::Reduced.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Full => "full",
            Self::Reduced => "reduced",
        }
    }
}

/// Who may run a command outside the sandbox, once, after a person agreed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Elevated {
    /// Whether anybody may.
    pub enabled: Spanned<Switch>,
    /// Senders who may.
    pub allow_from: Spanned<Vec<Spanned<String>>>,
}

/// On or off.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Switch {
    #[default]
    Off,
    On,
}
