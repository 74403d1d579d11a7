//! Time, so that tests can set it.

use std::{fmt, time::SystemTime};

/// Tells the time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;
}
