//! What a schema found wrong, in words a model can act on.

use jsonschema::{ValidationError, error::ValidationErrorKind};
use serde_json::Value;
use tool::{Problem, nearest};

/// Puts one error of the validator into our form.
pub(super) fn of(error: &ValidationError<'_>) -> Problem {
    let path = readable(error.instance_path().as_str());
    let (message, expected) = described(error);
    if let ValidationErrorKind::Required { property } = error.kind() {
        let name = property.as_str().unwrap_or_default();
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        return Problem { path, message, expected, got: None };
    }
    Problem { path, message, expected, got: Some(shown(error.instance())) }
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "the validator's own words are fine for the rest"
)]
fn described(error: &ValidationError<'_>) -> (String, Option<String>) {
    let instance = error.instance();
    match error.kind() {
        ValidationErrorKind::Required { .. } => ("missing, but required".to_owned(), None),
        ValidationErrorKind::Type { .. } => {
            let expected = expected_type(error);
            (format!("expected {expected}, got {}", shown(instance)), Some(expected))
        }
        ValidationErrorKind::Enum { options } => choice(options, instance),
        ValidationErrorKind::Minimum { limit } => {
            (format!("{instance} is too small; at least {limit}"), Some(format!(">= {limit}")))
        }
        ValidationErrorKind::Maximum { limit } => {
            (format!("{instance} is too large; at most {limit}"), Some(format!("<= {limit}")))
        }
        ValidationErrorKind::MaxLength { limit } => {
            (format!("is too long; at most {limit} characters"), Some(format!("<= {limit}")))
        }
        ValidationErrorKind::MaxItems { limit } => {
            (format!("has too many items; at most {limit}"), Some(format!("<= {limit}")))
        }
        _ => (error.to_string(), None),
    }
}

fn expected_type(error: &ValidationError<'_>) -> String {
    let text = error.to_string();
    let types = text.rsplit("of type").next().unwrap_or_default();
    let names: Vec<_> = types.split('"').skip(1).step_by(2).collect();
    if names.is_empty() { "another type".to_owned() } else { names.join(" or ") }
}

fn choice(options: &Value, instance: &Value) -> (String, Option<String>) {
    let names: Vec<_> =
        options.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let list = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let near = instance.as_str().and_then(|text| nearest(text, names));
    let hint = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    (format!("expected one of {list}, got {}{hint}", shown(instance)), Some(list))
}

/// What kind of value it is.
pub(super) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
    .to_owned()
}

/// The value itself if it is short, else its kind.
fn shown(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) => format!("an {}", kind(value)),
        Value::String(text) if text.len() > 40 => "a long string".to_owned(),
        Value::String(text) => format!("`{text}`"),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.to_string(),
    }
}

/// The JSON pointer `/edits/0/oldText` as `edits[0].oldText`.
fn readable(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).map(|part| part.replace("~1", "/").replace("~0", "~"));
    parts.fold(String::new(), |text, part| {
        if !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()) {
            return format!("{text}[{part}]");
        }
        if text.is_empty() { part } else { format!("{text}.{part}") }
    })
}
