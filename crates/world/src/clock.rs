//! The real time.

use std::time::SystemTime;

use tool::Clock;

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the real clock")]
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }
}
