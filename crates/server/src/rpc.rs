//! The form of messages: JSON-RPC 2.0.

use serde::Serialize;
use serde_json::{Value, json};

use crate::problem::{Kind, Problem, Refusal};

/// A message.
#[derive(Debug)]
pub(crate) enum Message {
    Call(Call),
    Answer(Answer),
}

/// A request, or a notification if it has no id.
#[derive(Debug)]
pub(crate) struct Call {
    pub(crate) id: Option<Value>,
    pub(crate) method: String,
    pub(crate) params: Value,
}

/// What the other side answers to a request of ours.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) id: Value,
    /// The result; nothing if there is an error instead.
    pub(crate) result: Option<Value>,
}

/// Why there is no result.
#[derive(Debug, Clone)]
pub struct RpcError {
    code: i64,
    message: String,
    data: Value,
}

impl RpcError {
    /// With one of the numbers of JSON-RPC or of the protocol above it.
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: Value::Null }
    }

    /// With more for programs.
    #[must_use]
    pub fn with_data(mut self, data: Value) -> Self {
        self.data = data;
        self
    }

    /// Its number.
    pub const fn code(&self) -> i64 {
        self.code
    }

    pub(crate) fn unknown_method(method: &str, known: &[&str]) -> Self {
        let near = tool::nearest(method, known.iter().copied());
        let hint = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
        let method: String = method.chars().take(100).collect();
        Self::new(-32601, format!("there is no method `{}`{hint}", method.escape_debug()))
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Problem::new(Kind::Invalid, message).into()
    }
}

impl From<Problem> for RpcError {
    fn from(problem: Problem) -> Self {
        Self {
            code: code(problem.kind()),
            message: problem.message().to_owned(),
            data: json!(problem.body()),
        }
    }
}

/// What a route refuses for is refused here in the same words.
pub(crate) fn refused(refusal: impl Refusal) -> RpcError {
    refusal.problem().into()
}

/// JSON-RPC has numbers for a few things; the rest are ours, and end like the HTTP status.
const fn code(kind: Kind) -> i64 {
    match kind {
        Kind::Invalid => -32602,
        Kind::Internal => -32603,
        Kind::Unauthenticated => -32001,
        Kind::Forbidden => -32003,
        Kind::NotFound => -32004,
        Kind::Conflict => -32009,
        Kind::TooMany => -32029,
        Kind::Unavailable => -32030,
        Kind::ModelFailed => -32031,
        Kind::MethodNotAllowed
        | Kind::NotAcceptable
        | Kind::TooSlow
        | Kind::TooLarge
        | Kind::UnsupportedMediaType
        | Kind::RangeNotSatisfiable
        | Kind::WrongHost => -32000,
    }
}

/// The longest name somebody may give to something of theirs.
const MOST_ID: usize = 256;

/// Whether something can name a request: it is repeated in every message about it.
pub(crate) fn is_id(id: &Value) -> bool {
    id.is_number() || id.as_str().is_some_and(|id| id.len() <= MOST_ID)
}

/// What is wrong with a message, and the id of the request, if it has one.
pub(crate) type Unread = (Option<Value>, RpcError);

/// Reads a message; the error is what is sent back, if anything is.
pub(crate) fn read(text: &str) -> Result<Message, Option<String>> {
    try_read(text).map_err(|unread| unread.map(|(id, error)| answer(id.as_ref(), Err(error))))
}

/// The same for whoever says in another way what is wrong.
pub(crate) fn try_read(text: &str) -> Result<Message, Option<Unread>> {
    let parsed = tool::parse_json(text);
    let value = parsed.map_err(|error| Some((None, RpcError::new(-32700, error))))?;
    let id = value.get("id").filter(|id| is_id(id)).cloned();
    let wrong = |message: &str| Some((id.clone(), RpcError::new(-32600, message)));
    let Value::Object(mut fields) = value else {
        return Err(wrong("a message is one JSON object; several at once are not understood"));
    };
    if fields.get("jsonrpc").is_some_and(|version| version != "2.0") {
        return Err(wrong("`jsonrpc` must be `2.0`"));
    }
    if fields.get("id").is_some() && id.is_none() {
        return Err(wrong("`id` must be a number, or a string that is not long"));
    }
    let Some(Value::String(method)) = fields.remove("method") else {
        let (result, error) = (fields.remove("result"), fields.remove("error"));
        return match id.clone() {
            Some(id) if result.is_some() || error.is_some() => {
                Ok(Message::Answer(Answer { id, result: result.filter(|_| error.is_none()) }))
            }
            _ => Err(wrong("`method` must say what is to be done")),
        };
    };
    let params = fields.remove("params").unwrap_or_else(|| json!({}));
    if !params.is_object() {
        // A notification is not answered, whatever is wrong with it.
        let error = RpcError::new(-32602, "`params` must be an object");
        return Err(id.map(|id| (Some(id), error)));
    }
    Ok(Message::Call(Call { id, method, params }))
}

/// A message that answers a request. What is wrong without a request is answered with the id `null`.
pub(crate) fn answer(id: Option<&Value>, result: Result<Value, RpcError>) -> String {
    written(Some(id.unwrap_or(&Value::Null)), result)
}

/// The same in a protocol whose ids are never `null`: then there is none.
pub(crate) fn answer_without_null(id: Option<&Value>, result: Result<Value, RpcError>) -> String {
    written(id, result)
}

fn written(id: Option<&Value>, result: Result<Value, RpcError>) -> String {
    #[derive(Serialize)]
    struct Sent<'a> {
        jsonrpc: &'static str,
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<&'a Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Value>,
    }
    let (result, error) = match result {
        Ok(result) => (Some(result), None),
        Err(RpcError { code, message, data }) if data.is_null() => {
            (None, Some(json!({"code": code, "message": message})))
        }
        Err(RpcError { code, message, data }) => {
            (None, Some(json!({"code": code, "message": message, "data": data})))
        }
    };
    serde_json::to_string(&Sent { jsonrpc: "2.0", id, result, error }).unwrap_or_default()
}

/// A result in JSON.
pub(crate) fn result(value: &impl Serialize) -> Result<Value, RpcError> {
    serde_json::to_value(value).map_err(|error| Problem::internal(error).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_a_request_or_is_answered_with_what_is_wrong() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, Ok("ping")),
            (r#"{"id":"a","method":"ping","params":{}}"#, Ok("ping")),
            (r#"{"method":"ping"}"#, Ok("ping")),
            ("{", Err(-32700)),
            (r#"{"id":1,"id":2,"method":"ping"}"#, Err(-32700)),
            (r#"[{"id":1,"method":"ping"}]"#, Err(-32600)),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, Err(-32600)),
            (r#"{"id":null,"method":"ping"}"#, Err(-32600)),
            (r#"{"id":1}"#, Err(-32600)),
            (r#"{"id":1,"method":"ping","params":[1]}"#, Err(-32602)),
            (r#"{"method":"ping","params":[1]}"#, Err(0)),
            (r#"{"id":7,"result":{}}"#, Ok("answer 7")),
            (r#"{"id":7,"error":{"code":1}}"#, Ok("answer 7")),
            (r#"{"result":{}}"#, Err(-32600)),
        ] {
            let read = read(text).map(|message| match message {
                Message::Call(call) => call.method,
                Message::Answer(answer) => format!("answer {}", answer.id),
            });
            let code = |text: Option<String>| {
                let answer = text.map(|text| serde_json::from_str::<Value>(&text).unwrap());
                answer.map_or(0, |answer| answer["error"]["code"].as_i64().unwrap())
            };
            assert_eq!(read.as_deref().map_err(|e| code(e.clone())), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_without_a_request_has_no_id_where_none_is_null() {
        let wrong = || Err(RpcError::new(-32700, "no JSON"));
        let error = r#""error":{"code":-32700,"message":"no JSON"}}"#;
        assert_eq!(answer(None, wrong()), format!(r#"{{"jsonrpc":"2.0","id":null,{error}"#));
        assert_eq!(answer_without_null(None, wrong()), format!(r#"{{"jsonrpc":"2.0",{error}"#));
        let (id, said) = (json!(7), answer_without_null(Some(&json!(7)), wrong()));
        assert_eq!(said, answer(Some(&id), wrong()));
    }
}
