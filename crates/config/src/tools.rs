//! The section `tools`.

use std::path::PathBuf;

use tool::FilePath;

use crate::Spanned;

/// A list of names in which every name has its line, and an empty list has one too.
pub type Names = Spanned<Vec<Spanned<String>>>;

/// A list of names that stands in no file, for programs that make their own configuration.
pub fn names<T: Into<String>>(names: impl IntoIterator<Item = T>) -> Names {
    names.into_iter().map(|name| Spanned::from(name.into())).collect::<Vec<_>>().into()
}

/// Which tools there are and when to ask.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tools {
    /// Only these; unset is no opinion, empty is nothing.
    pub allow: Option<Names>,
    /// Never these.
    pub deny: Option<Names>,
    /// When a person is asked.
    pub ask: Spanned<Ask>,
    /// What file tools can reach.
    pub fs: Fs,
}

/// What file tools can reach.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fs {
    /// Folders besides the workspace; absolute.
    pub roots: Spanned<Vec<Spanned<PathBuf>>>,
    /// Paths nobody may write, besides the built-in list.
    pub protected: Spanned<Vec<Spanned<FilePath>>>,
}

/// When a person is asked; a later one is stricter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ask {
    /// Never.
    Auto,
    /// When a call changes something that cannot be undone.
    #[default]
    Smart,
    /// Whenever a call changes something.
    Always,
}

impl Ask {
    /// Every variant, mildest first.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Smart, Self::Always];

    /// The names people write, in the same order.
    pub(crate) const NAMES: &'static [&'static str] =
        &[Self::Auto.name(), Self::Smart.name(), Self::Always.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Smart => "smart",
            Self::Always => "always",
        }
    }
}
