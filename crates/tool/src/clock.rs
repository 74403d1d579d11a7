//! Time, so that tests can set it.

use std::{fmt, time::SystemTime};

/// Tells the time.
pub trait Clock: fmt::Debug + Send + Sync {
    /// The current time.
    fn now(&self) -> SystemTime;

    /// Hears of a time that was recorded earlier. A clock that never goes back starts from there.
    fn saw(&self, _time: SystemTime) {}

    /// Whether what is old by this clock may be deleted for good.
    fn is_plausible(&self) -> bool {
        true
    }
}
