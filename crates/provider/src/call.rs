//! Calls, as every provider means them.

use std::{borrow::Cow, collections::HashMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tool::parse_json;

use crate::{
    Format, ProviderError, anthropic, gemini,
    json::{kind, text},
    mcp, openai, openai_responses, stored,
};

/// A call a model asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WireCall {
    /// What the result must name. Absent where the format matches by name and order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The tool, as the provider calls it; [`crate::Names::inward`] gives our name.
    pub name: String,
    /// An object, or why there is none, for the model.
    #[serde(with = "stored::args")]
    pub args: Result<Value, String>,
}

/// The calls in what a model said: a message, or the whole response around it. Blocks of other
/// types are passed over.
pub fn calls(format: Format, message: &Value) -> Result<Vec<WireCall>, ProviderError> {
    let (found, ids) = match format {
        Format::OpenAi => (openai::calls(message)?, Ids::Needed),
        Format::OpenAiResponses => (openai_responses::calls(message)?, Ids::Needed),
        Format::Anthropic => (anthropic::calls(message)?, Ids::Needed),
        Format::Gemini => (gemini::calls(message)?, Ids::Spare),
        Format::Mcp => (mcp::calls(message)?, Ids::Given),
    };
    told_apart(found, ids)
}

impl WireCall {
    /// Reads a call whose name is in `at`.
    pub(crate) fn read(
        id: Option<String>,
        at: &Value,
        args: Option<&Value>,
    ) -> Result<Self, ProviderError> {
        let name = text(at, "name")?.filter(|name| !name.is_empty());
        let name = name.ok_or(ProviderError::Missing { at: "a call", field: "name" })?;
        Ok(Self { id, name: name.to_owned(), args: read_args(args) })
    }

    /// The arguments where an object must be; what was not one has been told to the model.
    pub(crate) fn args_or_empty(&self) -> Cow<'_, Value> {
        let args = self.args.as_ref().map(Cow::Borrowed);
        args.unwrap_or_else(|_| Cow::Owned(Value::Object(Map::new())))
    }
}

/// An id that is text or a number; empty is absent.
pub(crate) fn id(found: Option<&Value>) -> Option<String> {
    match found? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            None
        }
    }
}

/// Arguments as an object, as its JSON, or not at all.
fn read_args(args: Option<&Value>) -> Result<Value, String> {
    match args {
        None | Some(Value::Null) => Ok(Value::Object(Map::new())),
        Some(Value::String(json)) => {
            let args = parse_args(json)?;
            // Some models quote their JSON once more.
            let inner = args.as_str().map(parse_args).transpose()?;
            object(inner.unwrap_or(args))
        }
        Some(args) => object(args.clone()),
    }
}

fn parse_args(json: &str) -> Result<Value, String> {
    if json.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    parse_json(json)
        .map_err(|error| format!("the arguments cannot be read ({error}); send one JSON object"))
}

fn object(args: Value) -> Result<Value, String> {
    match args {
        Value::Object(_) => Ok(args),
        Value::Null => Ok(Value::Object(Map::new())),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(format!("the arguments must be a JSON object, got {}", kind(&args)))
        }
    }
}

/// What an id is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ids {
    /// A result must name it, so a call without one gets one.
    Needed,
    /// Results are also matched by name and order.
    Spare,
    /// It belongs to the request around the call, which may not have one.
    Given,
}

/// Makes sure that each result will find its call.
fn told_apart(found: Vec<WireCall>, ids: Ids) -> Result<Vec<WireCall>, ProviderError> {
    let mut calls: Vec<WireCall> = Vec::with_capacity(found.len());
    let mut seen: HashMap<String, usize> = HashMap::new();
    for mut call in found {
        if let Some(id) = call.id.clone() {
            let first = seen.get(&id).and_then(|&index| calls.get_mut(index));
            match first {
                None => drop(seen.insert(id, calls.len())),
                // The same call, said twice.
                Some(first) if *first == call => continue,
                // Without ids, name and order still tell them apart.
                Some(first) if ids == Ids::Spare => (first.id, call.id) = (None, None),
                Some(_) => return Err(ProviderError::DuplicateId(id)),
            }
        }
        calls.push(call);
    }
    if ids == Ids::Needed {
        let mut fresh = (0..).map(|n| format!("call_{n}")).filter(|id| !seen.contains_key(id));
        for call in calls.iter_mut().filter(|call| call.id.is_none()) {
            call.id = fresh.next();
        }
    }
    Ok(calls)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_read_as_far_as_they_mean_one_thing() {
        for (args, expected) in [
            (None, Ok(json!({}))),
            (Some(json!(null)), Ok(json!({}))),
            (Some(json!("")), Ok(json!({}))),
            (Some(json!(" \n")), Ok(json!({}))),
            (Some(json!("null")), Ok(json!({}))),
            (Some(json!({"a": 1})), Ok(json!({"a": 1}))),
            (Some(json!("{\"a\":1}")), Ok(json!({"a": 1}))),
            (Some(json!("\"{\\\"a\\\":1}\"")), Ok(json!({"a": 1}))),
            (Some(json!([1])), Err("must be a JSON object, got a list")),
            (Some(json!("[1]")), Err("must be a JSON object, got a list")),
            (Some(json!("{\"a\":1")), Err("cannot be read (EOF while parsing an object")),
            (Some(json!("{\"a\":1,\"a\":2}")), Err("duplicate key `a`")),
            (Some(json!("rm -rf /")), Err("send one JSON object")),
        ] {
            match (read_args(args.as_ref()), expected) {
                (Ok(got), Ok(expected)) => assert_eq!(got, expected),
                (Err(got), Err(expected)) => assert!(got.contains(expected), "{got}"),
                (got, _) => panic!("{args:?} gave {got:?}"),
            }
        }
    }
}
