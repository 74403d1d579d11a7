//! How what a client sends is read.

use std::{fmt::Display, str::FromStr};

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, header},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::ApprovalId;
use tool::{CallId, ItemId};

use super::{endpoint::Unknown, shape::Fields};
use crate::{
    guard::too_large,
    parsing::parse_for,
    problem::{Kind, Problem},
    state::State,
};

/// The part of a path in braces.
pub(crate) trait PathPart: Sized + Send {
    fn read(text: Option<&str>) -> Result<Self, Problem>;
}

impl PathPart for () {
    fn read(_: Option<&str>) -> Result<Self, Problem> {
        Ok(())
    }
}

macro_rules! path_parts {
    ($($part:ty),*) => {$(
        impl PathPart for $part {
            fn read(text: Option<&str>) -> Result<Self, Problem> {
                parsed(text.unwrap_or_default())
            }
        }
    )*};
}
path_parts!(String, CallId, ApprovalId, ItemId);

fn parsed<T: FromStr<Err: Display>>(text: &str) -> Result<T, Problem> {
    text.parse().map_err(|error: T::Err| Problem::new(Kind::Invalid, error.to_string()))
}

/// What stands after the question mark.
pub(crate) trait Query: DeserializeOwned + JsonSchema + Send {}

impl<T: DeserializeOwned + JsonSchema + Send> Query for T {}

/// No query, or no body.
#[derive(Debug, Default, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Empty {}

/// Reads a query; what is not expected is refused with the nearest name, unless it is passed over.
pub(crate) fn read_query<T: Query>(
    fields: &Fields,
    query: &str,
    unknown: Unknown,
) -> Result<T, Problem> {
    let values = fields.read_query(query, unknown).map_err(invalid)?;
    serde_json::from_value(values).map_err(|error| invalid(error.to_string()))
}

fn invalid(message: String) -> Problem {
    Problem::new(Kind::Invalid, message)
}

/// What a body is for the description of the API.
pub(crate) enum BodyKind {
    /// There is none, and what is sent is not read.
    None,
    /// JSON of a type.
    Json,
    /// The arguments of a tool, whose schema is the tool's.
    Arguments,
    /// Text.
    Text,
}

/// What a body can be read as.
pub(crate) trait FromBody: Sized + Send {
    const KIND: BodyKind;
    /// The type of the JSON, for the description.
    type Shape: JsonSchema;

    fn read(source: BodySource<'_>) -> impl Future<Output = Result<Self, Problem>> + Send;
}

/// A body that is to be read, and what is known about it.
pub(crate) struct BodySource<'a> {
    pub(crate) state: &'a State,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) fields: &'a Fields,
    /// Who sends it.
    pub(crate) user: &'a str,
    pub(crate) body: Body,
}

impl BodySource<'_> {
    /// The body as text; JSON is promised by its headers.
    async fn json_text(self) -> Result<String, Problem> {
        expect_json(self.headers)?;
        text(self.state, self.body).await
    }
}

/// Parses JSON, a large one when it is the user's turn.
async fn parse(user: &str, text: String) -> Result<Value, Problem> {
    let value = parse_for(user, text.len(), move || tool::parse_json(&text)).await;
    let value = value.ok_or_else(|| Problem::new(Kind::Internal, "the server ends"))?;
    value.map_err(|error| invalid(format!("no JSON: {error}")))
}

/// No body is expected, and none is read.
impl FromBody for () {
    const KIND: BodyKind = BodyKind::None;
    type Shape = ();

    async fn read(_: BodySource<'_>) -> Result<Self, Problem> {
        Ok(())
    }
}

/// A body in JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned + JsonSchema + Send> FromBody for Json<T> {
    const KIND: BodyKind = BodyKind::Json;
    type Shape = T;

    async fn read(source: BodySource<'_>) -> Result<Self, Problem> {
        let (user, fields) = (source.user, source.fields);
        let value = parse(user, source.json_text().await?).await?;
        read_value(fields, value).map(Self)
    }
}

/// Reads JSON; a key that is there twice, or that is not expected, is refused.
pub(crate) fn read_json<T: DeserializeOwned>(fields: &Fields, text: &str) -> Result<T, Problem> {
    let value = tool::parse_json(text).map_err(|error| invalid(format!("no JSON: {error}")))?;
    read_value(fields, value)
}

fn read_value<T: DeserializeOwned>(fields: &Fields, value: Value) -> Result<T, Problem> {
    let Some(object) = value.as_object() else {
        return Err(invalid("a JSON object is expected".to_owned()));
    };
    for name in object.keys() {
        fields.check(name).map_err(invalid)?;
    }
    serde_json::from_value(value).map_err(|error| invalid(error.to_string()))
}

/// The arguments of a call, or why they cannot be read: the gate answers for both.
#[derive(Debug)]
pub(crate) struct Arguments(pub(crate) String);

impl FromBody for Arguments {
    const KIND: BodyKind = BodyKind::Arguments;
    type Shape = Value;

    async fn read(source: BodySource<'_>) -> Result<Self, Problem> {
        let text = text(source.state, source.body).await?;
        if !text.trim().is_empty() {
            expect_json(source.headers)?;
        }
        Ok(Self(text))
    }
}

/// Whatever JSON, as text: it is read elsewhere.
#[derive(Debug)]
pub(crate) struct RawJson(pub(crate) String);

impl FromBody for RawJson {
    const KIND: BodyKind = BodyKind::Json;
    type Shape = Map<String, Value>;

    async fn read(source: BodySource<'_>) -> Result<Self, Problem> {
        source.json_text().await.map(Self)
    }
}

/// Whatever JSON, for formats that are read elsewhere.
#[derive(Debug)]
pub(crate) struct AnyJson(pub(crate) Value);

impl FromBody for AnyJson {
    const KIND: BodyKind = BodyKind::Json;
    type Shape = Map<String, Value>;

    async fn read(source: BodySource<'_>) -> Result<Self, Problem> {
        let user = source.user;
        parse(user, source.json_text().await?).await.map(Self)
    }
}

/// A body of text.
#[derive(Debug)]
pub(crate) struct Text(pub(crate) String);

impl FromBody for Text {
    const KIND: BodyKind = BodyKind::Text;
    type Shape = String;

    async fn read(source: BodySource<'_>) -> Result<Self, Problem> {
        text(source.state, source.body).await.map(Self)
    }
}

/// A form that pages of other sites can send without asking is not accepted.
pub(super) fn expect_json(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
    let kind = kind.to_ascii_lowercase();
    if kind == "application/json" || kind.starts_with("application/") && kind.ends_with("+json") {
        return Ok(());
    }
    let message = "the body must be JSON; send `content-type: application/json`";
    Err(Problem::new(Kind::UnsupportedMediaType, message))
}

async fn text(state: &State, body: Body) -> Result<String, Problem> {
    let server = &state.gate.config().server;
    let bytes = read(body, server.body_bytes.value, server.request_timeout.value).await?;
    String::from_utf8(bytes.into()).map_err(|_| invalid("the body must be UTF-8".to_owned()))
}

/// Reads a body, up to a length and within a time.
pub(crate) async fn read(
    body: Body,
    most: u64,
    time: std::time::Duration,
) -> Result<Bytes, Problem> {
    let limited = Limited::new(body, usize::try_from(most).unwrap_or(usize::MAX));
    match tokio::time::timeout(time, limited.collect()).await {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(most)),
        Ok(Err(_)) => Err(invalid("the body ended early".to_owned())),
        Err(_) => {
            let message = format!("the body did not arrive within {} s", time.as_secs());
            Err(Problem::new(Kind::TooSlow, message))
        }
    }
}
