//! Fields, as providers and their imitators spell them.

use std::borrow::Cow;

use serde_json::Value;

use crate::ProviderError;

/// The field `name` (`snake_case`) under either spelling. `null` is absent, and two spellings that
/// differ are refused: which of them would have been meant?
pub(crate) fn field<'a>(value: &'a Value, name: &str) -> Result<Option<&'a Value>, ProviderError> {
    let get = |name: &str| value.get(name).filter(|found| !found.is_null());
    let camel = camel(name);
    match (get(name), (*camel != *name).then(|| get(&camel)).flatten()) {
        (Some(one), Some(other)) if one != other => {
            Err(ProviderError::TwoSpellings { one: name.to_owned(), other: camel.into_owned() })
        }
        (one, other) => Ok(one.or(other)),
    }
}

/// A field that is text if it is there.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Result<Option<&'a str>, ProviderError> {
    let Some(found) = field(value, name)? else { return Ok(None) };
    found.as_str().map(Some).ok_or_else(|| unexpected(name, "text", found))
}

/// A field that is a list if it is there; empty if not.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> Result<&'a [Value], ProviderError> {
    let Some(found) = field(value, name)? else { return Ok(&[]) };
    found.as_array().map(Vec::as_slice).ok_or_else(|| unexpected(name, "a list", found))
}

/// A field that is a list of texts, or one text, if it is there.
pub(crate) fn texts(value: &Value, name: &str) -> Result<Vec<String>, ProviderError> {
    let Some(found) = field(value, name)? else { return Ok(Vec::new()) };
    let text = |item: &Value| item.as_str().map(str::to_owned);
    let texts: Option<Vec<_>> = one_or_many(found).iter().map(text).collect();
    texts.ok_or_else(|| unexpected(name, "text or a list of texts", found))
}

/// A field that is a number if it is there.
pub(crate) fn number(value: &Value, name: &str) -> Result<Option<f64>, ProviderError> {
    let Some(found) = field(value, name)? else { return Ok(None) };
    found.as_f64().map(Some).ok_or_else(|| unexpected(name, "a number", found))
}

/// A field that is a whole number if it is there.
pub(crate) fn count(value: &Value, name: &str) -> Result<Option<u64>, ProviderError> {
    let Some(found) = field(value, name)? else { return Ok(None) };
    // Some write `1000.0`.
    let whole = |number: &f64| number.fract() == 0.0 && (0.0..=9e15).contains(number);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole")]
    let count = found.as_u64().or_else(|| found.as_f64().filter(whole).map(|n| n as u64));
    count.map(Some).ok_or_else(|| unexpected(name, "a whole number", found))
}

/// A field that is true or false; absent is false.
pub(crate) fn flag(value: &Value, name: &str) -> Result<bool, ProviderError> {
    let Some(found) = field(value, name)? else { return Ok(false) };
    found.as_bool().ok_or_else(|| unexpected(name, "a boolean", found))
}

/// A list, or one thing that would be in it.
pub(crate) fn one_or_many(value: &Value) -> &[Value] {
    value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice)
}

/// Something is not what it must be.
pub(crate) fn unexpected(at: &str, expected: &'static str, got: &Value) -> ProviderError {
    ProviderError::Unexpected { at: format!("`{at}`"), expected, got: kind(got) }
}

/// An object of these fields. Unlike `json!` it moves values, however large, instead of copying.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The same object with these fields set.
pub(crate) fn with<const N: usize>(mut value: Value, fields: [(&str, Value); N]) -> Value {
    if let Some(object) = value.as_object_mut() {
        object.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    }
    value
}

/// What a value is, for messages.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A value as text for a model.
pub(crate) fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn camel(name: &str) -> Cow<'_, str> {
    if !name.contains('_') {
        return Cow::Borrowed(name);
    }
    let mut parts = name.split('_');
    let mut camel = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let mut letters = part.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    Cow::Owned(camel)
}
