//! What an answer says, without what differs from one time to the next.

use serde_json::Value;

use super::chance::{KINDS, twin};

/// Fields that differ each time: how long something took, since when a model is there, and how much was told
/// before.
const EACH_TIME: [&str; 7] = [
    "created",
    "created_at",
    "duration_ms",
    "event_id",
    "execution_time_ms",
    "retry_after_ms",
    "uptime_ms",
];
/// Ids have at least as many letters.
const ID: usize = 16;
/// Those of notes, tasks and the like have exactly as many.
const ITEM: usize = 26;

/// What `text` says, alike for what names something and for its twin.
pub(super) fn plain(text: &str, named: &str) -> String {
    let mut said = match serde_json::from_str::<Value>(text) {
        Ok(value) => without(value).to_string(),
        Err(_) => text.to_owned(),
    };
    // Sessions are also named without their agent.
    for name in [named, named.rsplit(':').next().unwrap_or(named)] {
        said = said.replace(name, "NAME").replace(&twin(name), "NAME");
    }
    without_letters(&without_ids(&without_hints(&said)))
}

/// Without the one letter that is wrong in what cannot be a name.
fn without_letters(text: &str) -> String {
    let parts = text.split('`');
    let quoted = parts.map(|part| if part.chars().count() == 1 { "LETTER" } else { part });
    quoted.collect::<Vec<_>>().join("`")
}

/// Without the nearest name where all names are everybody's: files, of which what was tried may be one by now,
/// and time zones.
fn without_hints(text: &str) -> String {
    const HINT: &str = "; did you mean `";
    let (mut said, mut rest) = (String::new(), text);
    while let Some((before, hint)) = rest.split_once(HINT) {
        said.push_str(before);
        let shared =
            before.ends_with("` does not exist") || before.ends_with("unknown time zone `NAME`");
        rest = match hint.split_once("`?") {
            Some((_, after)) if shared => after,
            _ => {
                said.push_str(HINT);
                hint
            }
        };
    }
    (said + rest).replace("; use an IANA name such as `Europe/Berlin`", "")
}

/// Without what differs each time.
fn without(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(name, _)| !EACH_TIME.contains(&name.as_str()));
            Value::Object(kept.map(|(name, value)| (name, without(value))).collect())
        }
        Value::Array(all) => all.into_iter().map(without).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// With one word for every id.
fn without_ids(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    let (mut said, mut rest) = (String::new(), text);
    while let Some(from) = rest.find(is_part) {
        let (before, word) = rest.split_at(from);
        let (word, after) =
            word.split_at(word.find(|letter| !is_part(letter)).unwrap_or(word.len()));
        let is_long = word.len() >= ID && word.contains(|letter: char| letter.is_ascii_digit());
        // Those of notes and tasks may have no digit, and some ids begin with another one.
        let is_item = word.len() == ITEM
            && word.chars().all(|one| KINDS.iter().any(|kind| kind.contains(one)));
        let is_id = is_long || is_item || word.len() > "NAME".len() && word.starts_with("NAME");
        said.extend([before, if is_id { "ID" } else { word }]);
        rest = after;
    }
    said + rest
}

#[test]
fn what_differs_each_time_is_left_out_and_the_rest_is_not() {
    let said = |name: &str, call: &str, more: &str| {
        let text =
            format!(r#"{{"m":"no `{name}` here{more}","call_id":"{call}","duration_ms":7}}"#);
        plain(&text, "hers400001")
    };
    let calls = ["01a1e12c-366d-7000-9686-52164e388d6b", "01a1e12c-366d-7000-9686-52164e388d6c"];
    let twin = twin("hers400001");
    assert_eq!(said("hers400001", calls[0], ""), said(&twin, calls[1], ""));
    assert_ne!(said("hers400001", calls[0], ""), said(&twin, calls[1], ", but there"));
    let note = "dxrszmerejefvwnszgvzesehqe";
    assert_eq!(said("hers400001", calls[0], ""), said(&twin, note, ""));
    assert_eq!(said("hers400001", calls[0], ""), r#"{"call_id":"ID","m":"no `NAME` here"}"#);
}
