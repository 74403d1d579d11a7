//! Server-sent events.

use serde_json::Value;

/// What keeps a connection open and says nothing.
pub(super) const COMMENT: &str = ": ping\n\n";

/// What some clients take for the end of a line, though JSON does not.
const LINE_ENDS: [(char, &str); 3] =
    [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];

/// An event without a name.
pub(super) fn data(value: &Value) -> String {
    format!("data: {}\n\n", line(value))
}

/// An event whose name is its type.
pub(super) fn event(value: &Value) -> String {
    let name = value.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {}\n\n", line(value))
}

/// JSON on one line, whoever counts them. These characters are only ever inside of texts.
fn line(value: &Value) -> String {
    let mut json = value.to_string();
    for (end, escaped) in LINE_ENDS {
        if json.contains(end) {
            json = json.replace(end, escaped);
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn no_text_ends_a_line() {
        let value = json!({"type": "t", "text": "a\u{85}b\u{2028}c\u{2029}d\ne\r\u{b}\u{1c}"});
        for written in [data(&value), event(&value)] {
            let json = written.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
            assert!(
                !json.contains(['\u{85}', '\u{2028}', '\u{2029}', '\n', '\r', '\u{b}', '\u{1c}'])
            );
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), value);
        }
    }
}
