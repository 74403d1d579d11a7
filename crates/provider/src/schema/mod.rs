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
use keyword::Words;
use tidy::{Keys, Refs, Tidy};

/// Schemas inside of schemas that are looked at; what is deeper may be anything.
pub(crate) const DEPTH: usize = 24;

/// An object of JSON, which every schema is once it is tidy.
type Schema = Map<String, Value>;

/// The schema as `format` takes it: an object with properties at the root, nothing the provider
/// refuses.
pub fn schema(format: Format, schema: &Value) -> Value {
    let useful = |refs| Tidy::new(schema, refs, Keys::Map, Words::Useful).root();
    Value::Object(match format {
        Format::OpenAi | Format::OpenAiResponses | Format::Anthropic => {
            root::object(useful(Refs::Keep))
        }
        Format::Gemini => reduce::reduce(root::object(useful(Refs::Inline))),
        // Its clients take all of JSON Schema, and map names themselves.
        Format::Mcp => root::whole(Tidy::new(schema, Refs::Keep, Keys::Keep, Words::All).root()),
    })
}

#[cfg(test)]
mod tests;
