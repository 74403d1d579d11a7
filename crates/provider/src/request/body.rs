//! The body of a request, field by field.

use serde_json::{Map, Value};

/// Fields that are there only if they say something.
#[derive(Default)]
pub(super) struct Body(Map<String, Value>);

impl Body {
    pub(super) fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    pub(super) fn maybe(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(key, value),
            None => self,
        }
    }

    /// The list, unless it is empty.
    pub(super) fn list(self, key: &str, list: &[String]) -> Self {
        self.maybe(key, Some(list).filter(|list| !list.is_empty()).map(<[String]>::to_vec))
    }

    /// The object, unless it is empty.
    pub(super) fn part(self, key: &str, part: Self) -> Self {
        self.maybe(key, Some(part.0).filter(|part| !part.is_empty()))
    }

    pub(super) fn value(self) -> Value {
        Value::Object(self.0)
    }
}
