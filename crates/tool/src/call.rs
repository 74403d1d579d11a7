//! One call, as it comes in.

use std::{
    fmt,
    str::FromStr,
    sync::{Arc, Mutex, PoisonError},
    time::SystemTime,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::{Builder, Uuid};

use crate::{Caller, Clock};

/// Identifies one call in the journal, approvals and undo data. Later calls sort after earlier ones.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct CallId(#[schemars(with = "String")] Uuid);

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for CallId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let id = Uuid::parse_str(text.trim());
        id.map(Self)
            .map_err(|_| format!("`{text}` is not a call id; `toolgate history` lists them"))
    }
}

/// Makes call ids (UUID version 7) that only ever grow, also when the clock goes backwards.
#[derive(Debug)]
pub struct CallIds {
    clock: Arc<dyn Clock>,
    last: Mutex<(u64, u16)>,
}

impl CallIds {
    /// Takes the time from `clock`.
    pub const fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, last: Mutex::new((0, 0)) }
    }

    /// The next id.
    pub fn next(&self) -> CallId {
        let since = self.clock.now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let now = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        let (millis, count) = {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            // Twelve bits count within a millisecond; when they run out, time is borrowed.
            *last = match *last {
                (millis, _) if now > millis => (now, 0),
                (millis, 0xfff) => (millis + 1, 0),
                (millis, count) => (millis, count + 1),
            };
            *last
        };
        let mut random = [0; 10];
        let source = Uuid::new_v4();
        for (to, from) in random.iter_mut().zip(source.as_bytes()) {
            *to = *from;
        }
        let [high, low] = count.to_be_bytes();
        let [first, second, ..] = &mut random;
        (*first, *second) = (high, low);
        CallId(Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
    }
}

/// A request to run a tool.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// Our own id of this call.
    pub id: CallId,
    /// The id the model's provider gave it, if any.
    pub provider_call_id: Option<String>,
    /// On whose behalf.
    pub caller: Arc<Caller>,
    /// Tool name as the caller wrote it.
    pub name: String,
    /// Arguments as the caller wrote them.
    pub args: Value,
}

#[cfg(test)]
mod tests {
    use std::{sync::atomic::AtomicU64, sync::atomic::Ordering, time::Duration};

    use super::*;

    #[derive(Debug)]
    struct Backwards(AtomicU64);

    impl Clock for Backwards {
        fn now(&self) -> SystemTime {
            let millis = self.0.fetch_sub(1, Ordering::Relaxed);
            SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
        }
    }

    #[test]
    fn ids_grow_when_the_clock_goes_backwards() {
        let ids = CallIds::new(Arc::new(Backwards(AtomicU64::new(1_000_000))));
        let made: Vec<_> = (0..10_000).map(|_| ids.next()).collect();
        assert!(made.is_sorted_by(|a, b| a < b));
    }
}
