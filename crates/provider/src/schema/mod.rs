//! JSON Schemas, made into what a provider takes. Whatever comes in, something it takes comes out.

mod keyword;
mod merge;
mod reduce;
mod root;
mod tidy;
mod types;

use serde_json::{Map, Value};

pub(crate) use tidy::target;

use crate::Format;
use tidy::{Keys, Refs, Tidy};

/// Schemas inside of schemas that are looked at; what is deeper may be anything.
pub(crate) const DEPTH: usize = 24;

/// An object of JSON, which every schema is once it is tidy.
type Schema = Map<String, Value>;

/// The schema as `format` takes it: an object with properties at the root, nothing the provider
/// refuses.
pub fn schema(format: Format, schema: &Value) -> Value {
    let (refs, keys) = match format {
        Format::OpenAi | Format::OpenAiResponses | Format::Anthropic => (Refs::Keep, Keys::Map),
        Format::Gemini => (Refs::Inline, Keys::Map),
        // Its clients map names themselves.
        Format::Mcp => (Refs::Keep, Keys::Keep),
    };
    let plain = root::object(Tidy::new(schema, refs, keys).root());
    let plain = if format == Format::Gemini { reduce::reduce(plain) } else { plain };
    Value::Object(plain)
}

#[cfg(test)]
mod tests;
