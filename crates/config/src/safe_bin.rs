//! The section `tools.exec.safe_bins`.

use crate::{Names, Spanned};

/// A program that the operator knows to be harmless, as far as it is described.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SafeBin {
    /// The program, and its subcommand after a space.
    pub program: Spanned<String>,
    /// The options it may have.
    pub options: Names,
    /// What may stand besides options.
    pub operands: Spanned<SafeOperands>,
    /// The most there may be of them.
    pub max_operands: Option<Spanned<u32>>,
    /// Lines that are harmless.
    pub matches: Names,
    /// Lines that are not.
    pub refuses: Names,
}

/// What may stand besides options.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SafeOperands {
    /// Nothing.
    #[default]
    None,
    /// Any text.
    Text,
    /// Paths within the workspace.
    Paths,
    /// One text, then paths within the workspace.
    TextThenPaths,
}

impl SafeOperands {
    /// Every variant.
    pub const ALL: [Self; 4] = [Self::None, Self::Text, Self::Paths, Self::TextThenPaths];

    /// The names people write, in the same order.
    pub(crate) const NAMES: &'static [&'static str] =
        &[Self::None.name(), Self::Text.name(), Self::Paths.name(), Self::TextThenPaths.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Text => "text",
            Self::Paths => "paths",
            Self::TextThenPaths => "text_then_paths",
        }
    }
}
