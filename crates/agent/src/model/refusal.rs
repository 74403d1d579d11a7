//! What a provider says when it does not answer.

use std::time::Duration;

use serde_json::Value;
use tool::nearest;

use super::{
    Choice, ModelError,
    endpoint::{Endpoint, Key, Reach},
    retry::Failure,
    vendor::vendor,
};

/// What is read of an answer that is none.
pub(super) const MAX_BYTES: usize = 16 * 1024;
/// What is shown of it.
const MAX_CHARS: usize = 300;
/// What stands where a key was repeated.
const REDACTED: &str = "[redacted]";

/// An answer that is none: whose, and what it says.
pub(super) struct Refusal<'a> {
    pub(super) endpoint: &'a Endpoint,
    pub(super) reach: &'a Reach,
    pub(super) choice: &'a Choice,
    pub(super) status: u16,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: &'a [u8],
}

impl Refusal<'_> {
    /// What it means, and whether it is worth another try.
    pub(super) fn failure(&self) -> Failure {
        let status = self.status;
        let words = Words::read(self.body);
        let provider = self.endpoint.name.clone();
        let said = self.said(&words.message);
        let vendor = vendor(self.reach.format);
        if status == 413 || words.has(vendor.too_long) {
            return Failure::for_good(too_long(self.choice, said));
        }
        if status == 401 || words.has(vendor.bad_key) {
            let key = self.reach.key.as_ref();
            let whence = key.map_or_else(
                || format!("not set; name a secret as `providers.{provider}.key`"),
                Key::whence,
            );
            return Failure::for_good(ModelError::BadKey { provider, whence, said });
        }
        let retry_after = self.retry_after;
        match status {
            // No credit left is no matter of time.
            429 if !words.has(&["insufficient_quota", "billing"]) => {
                let error = ModelError::RateLimited { provider, retry_after, said };
                Failure::for_now(error, retry_after)
            }
            408 | 500 | 502 | 503 | 504 | 529 => {
                Failure::for_now(ModelError::Overloaded { provider, status, said }, retry_after)
            }
            _ => {
                let said = format!("{said}{}", self.nearest_model());
                Failure::for_good(ModelError::Refused { provider, status, said })
            }
        }
    }

    /// What it says, for the operator: bounded, on one line, without the key.
    fn said(&self, message: &str) -> String {
        let shown = shown(message, self.reach);
        if shown.is_empty() { String::new() } else { format!(": {shown}") }
    }

    /// The model that may have been meant, where there is none of that name.
    fn nearest_model(&self) -> String {
        let models = self.endpoint.known.map(|known| known.models).unwrap_or_default();
        let names = models.iter().map(|model| model.name);
        let model = &self.choice.model;
        let near = nearest(model, names).filter(|near| self.status == 404 && near != model);
        near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
    }
}

/// An error in the middle of a stream, where only its words say what it is.
pub(super) fn in_stream(message: &str, choice: &Choice, reach: &Reach) -> Failure {
    let (provider, said) = (choice.provider.clone(), shown(message, reach));
    let words = Words { kinds: String::new(), message: message.to_owned() };
    if words.has(vendor(reach.format).too_long) {
        return Failure::for_good(too_long(choice, format!(": {said}")));
    }
    let error = if words.has(&["rate limit", "rate_limit", "too many requests"]) {
        let said = format!(": {said}");
        ModelError::RateLimited { provider, retry_after: None, said }
    } else if words.has(&["overloaded", "unavailable", "server_error", "internal"]) {
        ModelError::Overloaded { provider, status: 200, said: format!(": {said}") }
    } else {
        ModelError::Broken { provider, said }
    };
    Failure::for_now(error, None)
}

fn too_long(choice: &Choice, said: String) -> ModelError {
    let Choice { provider, model, .. } = choice.clone();
    ModelError::ContextTooLong { provider, model, said }
}

/// Words of a provider as the operator sees them: bounded, on one line, without the key.
pub(super) fn shown(message: &str, reach: &Reach) -> String {
    let key = reach.key.as_ref().map(Key::reveal).filter(|key| !key.is_empty());
    let message = key.map_or_else(|| message.to_owned(), |key| message.replace(key, REDACTED));
    let line = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut letters = line.chars().filter(|letter| !letter.is_control());
    let short: String = letters.by_ref().take(MAX_CHARS).collect();
    if letters.next().is_some() { short + "…" } else { short }
}

/// What an error says, whoever says it.
struct Words {
    /// Everything that names a kind of error, for programs.
    kinds: String,
    /// For people.
    message: String,
}

impl Words {
    fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let Ok(root) = serde_json::from_str::<Value>(&text) else {
            // The page of a proxy tells nobody anything.
            let message = if text.trim_start().starts_with('<') { "" } else { &*text };
            return Self { kinds: String::new(), message: message.to_owned() };
        };
        let root = root.get(0).unwrap_or(&root);
        let error = root.get("error").filter(|error| !error.is_null()).unwrap_or(root);
        let message =
            ["message", "detail", "error"].iter().find_map(|name| error.get(name)?.as_str());
        let message = message.or(error.as_str()).unwrap_or_default().to_owned();
        let reasons = error.get("details").and_then(Value::as_array).into_iter().flatten();
        let reasons = reasons.filter_map(|detail| detail.get("reason"));
        let kinds = ["type", "code", "status"].iter().filter_map(|name| error.get(name));
        let kinds = kinds.chain(reasons).filter_map(Value::as_str).collect::<Vec<_>>().join(" ");
        Self { kinds, message }
    }

    /// Whether one of these words, which are in lower case, is in it.
    fn has(&self, words: &[&str]) -> bool {
        let text = format!("{} {}", self.kinds, self.message).to_lowercase();
        words.iter().any(|word| text.contains(word))
    }
}

/// How long to wait, as the provider says: `retry-after-ms`, or `retry-after` in seconds. A date is not
/// read, because its clock may not be ours.
pub(super) fn retry_after(millis: Option<&str>, seconds: Option<&str>) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let millis = millis.and_then(number).map(|millis| millis / 1_000.0);
    let seconds = millis.or_else(|| seconds.and_then(number))?;
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_long_to_wait_is_read_in_either_unit() {
        for (millis, seconds, expected) in [
            (None, None, None),
            (Some("250"), None, Some(250)),
            (Some("250"), Some("9"), Some(250)),
            (None, Some("2"), Some(2_000)),
            (None, Some("0.5"), Some(500)),
            (None, Some("-1"), None),
            (None, Some("NaN"), None),
            (None, Some("Wed, 21 Oct 2026 07:28:00 GMT"), None),
            (Some("soon"), Some("1"), Some(1_000)),
        ] {
            let expected = expected.map(Duration::from_millis);
            assert_eq!(retry_after(millis, seconds), expected, "{millis:?} {seconds:?}");
        }
    }
}
