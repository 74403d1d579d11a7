//! Times as they are shown: RFC 3339, with milliseconds.

use std::time::SystemTime;

use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// For `#[serde(serialize_with)]`.
pub(crate) fn shown<S: Serializer>(time: &SystemTime, serializer: S) -> Result<S::Ok, S::Error> {
    match Timestamp::try_from(*time) {
        Ok(time) => serializer.collect_str(&format_args!("{time:.3}")),
        // Out of the range that people use; nothing of ours has such a time.
        Err(_) => serializer.serialize_none(),
    }
}

/// For `#[serde(serialize_with)]`; an absent time is `null`.
#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
pub(crate) fn shown_if_any<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    struct Shown<'a>(&'a SystemTime);
    impl Serialize for Shown<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            shown(self.0, serializer)
        }
    }
    time.as_ref().map(Shown).serialize(serializer)
}
