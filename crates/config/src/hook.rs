//! The section `hooks`.

use crate::{Names, Spanned};

/// A program of the operator's that sees calls.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hook {
    /// The program and its arguments.
    pub command: Spanned<Vec<Spanned<String>>>,
    /// When it runs.
    pub on: Spanned<HookEvent>,
    /// For which tools; unset is all.
    pub tools: Option<Names>,
}

/// When a hook runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HookEvent {
    /// Before a call is validated; it may change, block or answer it.
    #[default]
    Before,
    /// After a call; it can change nothing.
    After,
    /// After a call that succeeded; it may replace what the transcript of a session keeps of the result.
    Persist,
}

impl HookEvent {
    /// Every variant.
    pub const ALL: [Self; 3] = [Self::Before, Self::After, Self::Persist];

    /// The names people write, in the same order.
    pub(crate) const NAMES: &'static [&'static str] =
        &[Self::Before.name(), Self::After.name(), Self::Persist.name()];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Before => "before_tool_call",
            Self::After => "after_tool_call",
            Self::Persist => "tool_result_persist",
        }
    }
}
