//! The headers of a request that repeat what the message says, so that proxies can look at them.

use std::borrow::Cow;

use axum::http::HeaderMap;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value};

use crate::rpc::RpcError;

/// Which revision is spoken.
pub(super) const VERSION: &str = "mcp-protocol-version";
/// The session, in revisions that have them.
pub(super) const SESSION: &str = "mcp-session-id";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";
const PARAM: &str = "mcp-param-";
/// How a parameter says that it is repeated in a header.
const ANNOTATION: &str = "x-mcp-header";

/// The only value of a header.
pub(super) fn only<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err(RpcError::header_mismatch(format!("`{name}` is there twice; send it once")));
    }
    let unreadable = |_| RpcError::header_mismatch(format!("`{name}` cannot be read"));
    first.map(|value| value.to_str().map(str::trim).map_err(unreadable)).transpose()
}

/// Refuses a request whose headers say something else than it does: what lies between would route or
/// filter another request than the one that is carried out.
pub(super) fn check(
    headers: &HeaderMap,
    method: &str,
    params: &Map<String, Value>,
) -> Result<(), RpcError> {
    same(only(headers, METHOD)?, METHOD, method)?;
    let named = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return Ok(()),
    };
    match params.get(named).and_then(Value::as_str) {
        Some(expected) => same(only(headers, NAME)?, NAME, expected),
        // What is missing in the message is said by whoever reads it.
        None => Ok(()),
    }
}

/// The same for arguments whose schema wants them repeated.
pub(super) fn check_arguments(
    headers: &HeaderMap,
    schema: &Value,
    arguments: &Value,
) -> Result<(), RpcError> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    for (name, property) in properties {
        let argument = arguments.get(name);
        if let Some(header) = property.get(ANNOTATION).and_then(Value::as_str) {
            check_argument(headers, &format!("{PARAM}{header}"), argument)?;
        }
        check_arguments(headers, property, argument.unwrap_or(&Value::Null))?;
    }
    Ok(())
}

fn check_argument(
    headers: &HeaderMap,
    header: &str,
    argument: Option<&Value>,
) -> Result<(), RpcError> {
    let said = only(headers, header)?;
    let expected = match argument {
        Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Cow::Owned(value.to_string()),
        None | Some(Value::Null | Value::Array(_) | Value::Object(_)) => {
            return match said {
                None => Ok(()),
                Some(_) => Err(RpcError::header_mismatch(format!(
                    "`{header}` is there, and the argument it repeats is not"
                ))),
            };
        }
    };
    same(said, header, &expected)
}

fn same(said: Option<&str>, header: &str, expected: &str) -> Result<(), RpcError> {
    let Some(said) = said else {
        return Err(RpcError::header_mismatch(format!("the header `{header}` is missing")));
    };
    match decoded(said) {
        Some(said) if said == expected => Ok(()),
        Some(_) => Err(RpcError::header_mismatch(format!(
            "the header `{header}` says something else than the message"
        ))),
        None => Err(RpcError::header_mismatch(format!("`{header}` is no Base64"))),
    }
}

/// What a header cannot carry is written as `=?base64?…?=`.
fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(Cow::Borrowed(value));
    };
    String::from_utf8(STANDARD.decode(inner).ok()?).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn headers(pairs: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value).unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn headers_must_say_what_the_message_says() {
        let call = json!({"name": "grüße"});
        let call = call.as_object().unwrap();
        for (pairs, fits) in [
            (&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?Z3LDvMOfZQ==?=")][..], true),
            (&[("mcp-method", "tools/call")], false),
            (&[("mcp-name", "=?base64?Z3LDvMOfZQ==?=")], false),
            (&[("mcp-method", "tools/call"), ("mcp-name", "grusse")], false),
            (&[("mcp-method", "tools/call"), ("mcp-name", "=?base64?*?=")], false),
            (&[("mcp-method", "Tools/Call"), ("mcp-name", "=?base64?Z3LDvMOfZQ==?=")], false),
        ] {
            assert_eq!(check(&headers(pairs), "tools/call", call).is_ok(), fits, "{pairs:?}");
        }
        let mut twice = headers(&[("mcp-method", "tools/list")]);
        twice.append("mcp-method", HeaderValue::from_static("tools/list"));
        assert!(check(&twice, "tools/list", &Map::new()).is_err());
    }

    #[test]
    fn an_argument_that_is_repeated_must_be_the_same() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
        }});
        for (pairs, arguments, fits) in [
            (&[("mcp-param-region", "eu")][..], json!({"region": "eu"}), true),
            (&[("mcp-param-region", "us")], json!({"region": "eu"}), false),
            (&[], json!({"region": "eu"}), false),
            (&[("mcp-param-region", "eu")], json!({}), false),
            (&[("mcp-param-region", "eu")], json!({"region": null}), false),
            (&[("mcp-param-count", "3")], json!({"deep": {"count": 3}}), true),
            (&[("mcp-param-count", "4")], json!({"deep": {"count": 3}}), false),
            (&[], json!({}), true),
        ] {
            let checked = check_arguments(&headers(pairs), &schema, &arguments);
            assert_eq!(checked.is_ok(), fits, "{pairs:?} {arguments}");
        }
    }
}
