//! The section `users.<id>`.

use std::num::NonZeroUsize;

use tool::Rate;

use crate::Spanned;

/// What is different for one user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// What they may use up, instead of what all members may.
    pub limits: UserLimits,
}

/// What one user may use up at once; unset is what all members may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the help of each key says it")]
pub struct UserLimits {
    pub calls: Option<Spanned<NonZeroUsize>>,
    pub rate: Option<Spanned<Rate>>,
    pub connections: Option<Spanned<NonZeroUsize>>,
    pub runs: Option<Spanned<NonZeroUsize>>,
}
