//! How many conversations of one user go on at once.

use std::{any::Any, fmt};

use tool::Caller;

use crate::AgentError;

/// Bounds how many conversations of one user go on at once, whether somebody waits for them or not.
pub trait RunLimit: fmt::Debug + Send + Sync {
    /// Counts one more of whoever `caller` acts for, if there may be one more.
    fn admit(&self, caller: &Caller) -> Result<Admitted, AgentError>;
}

/// A conversation that counts until this is dropped.
pub struct Admitted(#[expect(dead_code, reason = "kept until it is over")] Option<Kept>);

type Kept = Box<dyn Any + Send + Sync>;

impl Admitted {
    /// It counts until `counted` is dropped.
    pub fn with(counted: impl Any + Send + Sync) -> Self {
        Self(Some(Box::new(counted)))
    }

    /// Nothing bounds it.
    pub const fn free() -> Self {
        Self(None)
    }
}

impl fmt::Debug for Admitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Admitted")
    }
}
