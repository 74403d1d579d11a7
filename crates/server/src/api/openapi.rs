//! The description of the API, in the form of `OpenAPI` 3.1, made from the table.

use std::collections::BTreeMap;

use axum::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use store::Scope;
use tool::{Outcome, ToolError};

use super::{
    endpoint::{Asked, Endpoint, Given, Open, Who},
    input::{BodyKind, Empty, FromBody},
    output::{Answer, Text},
    route::Route,
};
use crate::problem::{ErrorBody, Kind, Nothing, Refusal};

const JSON: &str = "application/json";
/// Where schemas stand in the document.
const SCHEMAS: &str = "/components/schemas";

/// `GET /openapi.json`.
pub(crate) struct Show;

impl Endpoint for Show {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/openapi.json";
    const SUMMARY: &'static str = "This description.";
    type Path = ();
    type Query = Empty;
    type Body = ();
    type Answer = Text;
    type Refusal = Nothing;

    async fn handle(asked: Asked, _: Given<Self>) -> Result<Text, Nothing> {
        let text = asked.state.table.described().to_owned();
        Ok(Text { content_type: JSON, text })
    }
}

/// The description of one operation, as it is written.
#[derive(Debug)]
pub(crate) struct Described<'a> {
    sent: &'a mut SchemaGenerator,
    answered: &'a mut SchemaGenerator,
    operation: Map<String, Value>,
    answers: BTreeMap<u16, Documented>,
}

/// What is known about one status.
#[derive(Debug, Default)]
struct Documented {
    words: Vec<String>,
    contents: BTreeMap<&'static str, Vec<Schema>>,
}

impl Described<'_> {
    /// An answer in JSON.
    pub(crate) fn json<T: JsonSchema>(&mut self, status: u16, words: &str) {
        let schema = self.answered.subschema_for::<T>();
        self.add(status, words, Some((JSON, schema)));
    }

    /// An answer in text.
    pub(crate) fn text(&mut self, status: u16, content_type: &'static str, words: &str) {
        let schema = self.answered.subschema_for::<String>();
        self.add(status, words, Some((content_type, schema)));
    }

    /// An answer without a body.
    pub(crate) fn empty(&mut self, status: u16, words: &str) {
        self.add(status, words, None);
    }

    /// The outcome of a call: each of its types has its status.
    pub(crate) fn outcome(&mut self) {
        self.json::<Outcome>(200, "The tool ran.");
        for (kind, status) in ToolError::STATUSES {
            self.json::<Outcome>(*status, &format!("The call ended with `{kind}`."));
        }
    }

    /// What the request can be refused for.
    pub(crate) fn problems(&mut self, kinds: &[Kind]) {
        for kind in kinds {
            self.json::<ErrorBody>(kind.status(), kind.when());
        }
    }

    /// What is sent along, in JSON.
    pub(crate) fn body<T: JsonSchema>(&mut self) {
        let schema = self.sent.subschema_for::<T>();
        self.say("requestBody", json!({"required": true, "content": {JSON: {"schema": schema}}}));
        self.problems(Kind::WITH_BODY);
    }

    fn add(&mut self, status: u16, words: &str, content: Option<(&'static str, Schema)>) {
        let known = self.answers.entry(status).or_default();
        if !known.words.iter().any(|word| word == words) {
            known.words.push(words.to_owned());
        }
        let Some((kind, schema)) = content else { return };
        let schemas = known.contents.entry(kind).or_default();
        if !schemas.contains(&schema) {
            schemas.push(schema);
        }
    }

    /// What can be asked for over the connection: names, and the scope each needs.
    pub(crate) fn methods(&mut self, methods: &[(&str, Option<Scope>)]) {
        let shown = |(name, scope): &(&str, Option<Scope>)| json!({"name": name, "scope": scope});
        self.say("x-methods", methods.iter().map(shown).collect());
    }

    fn say(&mut self, name: &str, value: Value) {
        self.operation.insert(name.to_owned(), value);
    }
}

/// Headers that every operation for whoever has a token takes. The last two are for tokens with the scope `senders`.
const HEADERS: [&str; 4] =
    ["toolgate-agent", "toolgate-session", "toolgate-sender", "toolgate-channel"];

/// Describes an operation for whoever has a token.
pub(crate) fn of_endpoint<E: Endpoint>(described: &mut Described<'_>) {
    let who = match E::WHO {
        Who::Everybody => "",
        Who::Person => " Not for tokens that are for certain agents.",
        Who::Owner => " For the owner.",
    };
    described.say("summary", json!(E::SUMMARY));
    described.say("description", json!(format!("{}{who}", E::SUMMARY)));
    let path = E::PATH.split_once('{').and_then(|(_, rest)| rest.split_once('}'));
    let path = path.map(|(name, _)| {
        json!({"name": name, "in": "path", "required": true, "schema": {"type": "string"}})
    });
    let query = parameters(described.sent.root_schema_for::<E::Query>().as_value());
    let headers = HEADERS.map(|name| {
        json!({"name": name, "in": "header", "required": false, "schema": {"type": "string"}})
    });
    let all: Vec<_> = path.into_iter().chain(query).chain(headers).collect();
    described.say("parameters", json!(all));
    if let Some(body) = body::<E::Body>(described) {
        described.say("requestBody", body);
        described.problems(Kind::WITH_BODY);
    }
    E::Answer::describe(described);
    described.problems(E::Refusal::KINDS);
    described.problems(Kind::EVERYWHERE);
}

fn body<B: FromBody>(described: &mut Described<'_>) -> Option<Value> {
    let (kind, required) = match B::KIND {
        BodyKind::None => return None,
        BodyKind::Json => (JSON, true),
        BodyKind::Arguments => (JSON, false),
        BodyKind::Text => ("text/plain", true),
    };
    let schema = described.sent.subschema_for::<B::Shape>();
    Some(json!({"required": required, "content": {kind: {"schema": schema}}}))
}

/// The fields of a query, one by one.
fn parameters(schema: &Value) -> Vec<Value> {
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<_> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let fields = schema.get("properties").and_then(Value::as_object);
    let described = |(name, schema): (&String, &Value)| {
        json!({
            "name": name,
            "in": "query",
            "required": required.contains(&name.as_str()),
            "description": schema.get("description"),
            "schema": schema,
        })
    };
    fields.into_iter().flatten().map(described).collect()
}

/// Describes an operation that needs no token.
pub(crate) fn of_open<O: Open>(described: &mut Described<'_>) {
    described.say("summary", json!(O::SUMMARY));
    described.say("security", json!([]));
    O::described(described);
    let everywhere = Kind::EVERYWHERE.iter().filter(|kind| **kind != Kind::Unauthenticated);
    described.problems(&everywhere.copied().collect::<Vec<_>>());
}

/// The whole document.
pub(super) fn described(routes: &[Route]) -> Value {
    let settings = || {
        SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = SCHEMAS.into())
    };
    let mut sent = settings().for_deserialize().into_generator();
    let mut answered = settings().for_serialize().into_generator();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in routes {
        let method = route.method.as_str().to_ascii_lowercase();
        let mut described = Described {
            sent: &mut sent,
            answered: &mut answered,
            operation: Map::new(),
            answers: BTreeMap::new(),
        };
        described.say("operationId", json!(operation_id(&method, route.path)));
        if let Some(needed) = route.needs {
            described.say("security", json!([{"token": [needed]}]));
        }
        (route.describe)(&mut described);
        let Described { mut operation, answers, .. } = described;
        operation.insert("responses".to_owned(), responses(answers));
        paths.entry(route.path).or_default().insert(method, Value::Object(operation));
    }
    let mut schemas = sent.take_definitions(true);
    schemas.extend(answered.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Toolgate",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The tool runtime for AI agents: every tool call passes one gate.",
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Made by `toolgate tokens add`."},
            },
        },
    })
}

fn responses(answers: BTreeMap<u16, Documented>) -> Value {
    let shown = answers.into_iter().map(|(status, Documented { words, contents })| {
        let contents = contents.into_iter().map(|(kind, mut schemas)| {
            let schema = match (schemas.pop(), schemas.is_empty()) {
                (Some(only), true) => json!(only),
                (last, _) => {
                    schemas.extend(last);
                    json!({"anyOf": schemas})
                }
            };
            (kind.to_owned(), json!({"schema": schema}))
        });
        let contents: Map<_, _> = contents.collect();
        let words = words.join(" ");
        let response = if contents.is_empty() {
            json!({"description": words})
        } else {
            json!({"description": words, "content": contents})
        };
        (status.to_string(), response)
    });
    Value::Object(shown.collect())
}

/// `get_v1_calls_id`.
fn operation_id(method: &str, path: &str) -> String {
    let parts = path.split(['/', '.', '-', '{', '}']).filter(|part| !part.is_empty());
    [method].into_iter().chain(parts).collect::<Vec<_>>().join("_")
}
