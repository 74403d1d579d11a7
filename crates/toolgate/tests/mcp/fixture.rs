//! What the suite is offered: the tools of the gate, and what the suite wants besides.

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicUsize, Ordering},
};

use futures_util::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use gate::Gate;
use serde_json::{Map, Value, json};
use server::{
    RpcError,
    mcp::{Answered, Change, Context, Offer, Tools},
};
use tokio::sync::watch;
use toolgate::{BoxFuture, Caller, ToolInfo};

use crate::{
    script::{Script, Step, capability, form, text_block},
    tools::{self, PIXEL},
};

/// The levels of what is logged, from the least on.
const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

static DEFINED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(include_str!("../cases/mcp_fixtures.json")).unwrap());

/// What the suite wants to find, as it is listed.
pub(crate) fn defined() -> &'static Value {
    &DEFINED
}

/// Offers all of it.
#[derive(Debug)]
pub(crate) struct Fixture {
    gate: Gate,
    tools: Arc<Tools>,
    calls: AtomicUsize,
    /// Whether there is one prompt more.
    another_prompt: watch::Sender<bool>,
}

impl Fixture {
    pub(crate) fn new(gate: Gate, tools: Arc<Tools>) -> Self {
        Self { gate, tools, calls: AtomicUsize::new(0), another_prompt: watch::Sender::new(false) }
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }

    /// Calls a tool through the gate, and does with the client what the tool says.
    async fn call(&self, context: &Context, params: Map<String, Value>) -> Answered {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut result = self.tools.call(context, params).await?;
        let script = result.get("structuredContent").cloned().map(serde_json::from_value);
        let Some(Ok(Script { steps, content: mut whole })) = script else { return Ok(result) };
        for step in steps {
            if let Some(answers) = self.play(context, step).await? {
                whole.push(text_block(&Value::Object(answers).to_string()));
            }
        }
        result.remove("structuredContent");
        result.insert("content".to_owned(), whole.into());
        Ok(result)
    }

    /// Gives the client's answers, if it was asked.
    async fn play(
        &self,
        context: &Context,
        step: Step,
    ) -> Result<Option<Map<String, Value>>, RpcError> {
        match step {
            Step::Needs(capability) if context.client.info.has(&capability) => {}
            Step::Needs(capability) => return Err(RpcError::missing_capability(&capability)),
            Step::Log(text) => log(context, &text).await,
            Step::Ask(requests) => return ask(context, requests).await.map(Some),
            Step::ChangeTools => {
                let tool = tools::another();
                if self.gate.registry().remove(&tool.info().name).is_none() {
                    self.gate.registry().add(vec![tool]).unwrap();
                }
            }
            Step::ChangePrompts => self.another_prompt.send_modify(|there| *there = !*there),
        }
        Ok(None)
    }

    fn prompts(&self) -> Value {
        let mut prompts = defined()["prompts"].clone();
        if let (true, Some(prompts)) = (*self.another_prompt.borrow(), prompts.as_array_mut()) {
            prompts.push(json!({"name": "test_another", "description": "Is there for a while"}));
        }
        prompts
    }
}

impl Offer for Fixture {
    fn capabilities(&self) -> Value {
        let mut capabilities = defined()["capabilities"].clone();
        if let Some(capabilities) = capabilities.as_object_mut() {
            // Tasks, which are not offered.
            capabilities.remove("extensions");
            capabilities.insert("completions".to_owned(), json!({}));
        }
        capabilities
    }

    fn handle<'a>(
        &'a self,
        context: &'a Context,
        method: &'a str,
        params: Map<String, Value>,
    ) -> BoxFuture<'a, Answered> {
        Box::pin(async move {
            match method {
                "tools/call" => self.call(context, params).await,
                "prompts/list" => Ok(kept(context, json!({"prompts": self.prompts()}))),
                "prompts/get" => prompt(context, &params).await,
                "resources/list" => Ok(kept(context, json!({"resources": defined()["resources"]}))),
                "resources/templates/list" => {
                    let templates = &defined()["templates"]["resourceTemplates"];
                    Ok(kept(context, json!({"resourceTemplates": templates})))
                }
                "resources/read" => read(context, text(&params, "uri")),
                // Nothing that can be read here ever changes.
                "resources/subscribe" | "resources/unsubscribe" => Ok(Map::new()),
                "completion/complete" => Ok(object(json!({"completion": {
                    "values": ["paris", "park", "party"],
                    "total": 3,
                    "hasMore": false,
                }}))),
                _ => self.tools.handle(context, method, params).await,
            }
        })
    }

    fn changes(&self, caller: &Caller) -> BoxStream<'static, Change> {
        let prompts = stream::unfold(self.another_prompt.subscribe(), |mut changed| async move {
            changed.changed().await.ok()?;
            Some((Change::Prompts, changed))
        });
        stream::select(self.tools.changes(caller), prompts).boxed()
    }

    fn tool(&self, caller: &Caller, name: &str) -> Option<Arc<ToolInfo>> {
        self.tools.tool(caller, name)
    }
}

/// Asks the client for what it has declared. What it brought along without being asked counts, too.
async fn ask(
    context: &Context,
    mut requests: Map<String, Value>,
) -> Result<Map<String, Value>, RpcError> {
    let needed = requests.values().map(capability).next().unwrap_or_default().to_owned();
    requests.retain(|_, request| context.client.info.has(capability(request)));
    if requests.is_empty() {
        return Err(RpcError::missing_capability(&needed));
    }
    let given = requests.keys().map(|name| {
        let answer = context.given.get(name).filter(|answer| answer.is_object());
        answer.map(|answer| (name.clone(), answer.clone()))
    });
    if let Some(given) = given.collect::<Option<_>>() {
        return Ok(given);
    }
    context.client.ask(requests).await.ok_or_else(|| failed("the client did not answer"))
}

async fn log(context: &Context, text: &str) {
    let rank = |level: &str| LEVELS.iter().position(|known| *known == level);
    if context.log_level.as_deref().is_some_and(|wanted| rank(wanted) <= rank("info")) {
        let params = json!({"level": "info", "logger": "fixture", "data": text});
        context.client.tell("notifications/message", params).await;
    }
}

async fn prompt(context: &Context, params: &Map<String, Value>) -> Answered {
    let arguments = params.get("arguments").and_then(Value::as_object);
    let argument =
        |name: &str| arguments.map(|arguments| text(arguments, name)).unwrap_or_default();
    let contents = match text(params, "name") {
        "test_simple_prompt" => vec![text_block("This is a simple prompt for testing.")],
        "test_prompt_with_arguments" => {
            let (one, other) = (argument("arg1"), argument("arg2"));
            vec![text_block(&format!("Prompt with arguments: arg1='{one}', arg2='{other}'"))]
        }
        "test_prompt_with_embedded_resource" => vec![
            json!({"type": "resource", "resource": {
                "uri": argument("resourceUri"),
                "mimeType": "text/plain",
                "text": "Embedded resource content for testing.",
            }}),
            text_block("Please process the embedded resource above."),
        ],
        "test_prompt_with_image" => vec![
            json!({"type": "image", "data": PIXEL, "mimeType": "image/png"}),
            text_block("Please analyze the image above."),
        ],
        "test_input_required_result_prompt" => {
            let fields = json!({"context": {"type": "string"}});
            let form = form("What context should the prompt use?", &fields);
            let asked = [("user_context".to_owned(), form)].into_iter().collect();
            vec![text_block(&Value::Object(ask(context, asked).await?).to_string())]
        }
        other => return Err(RpcError::wrong_params(format!("there is no prompt `{other}`"))),
    };
    let message = |content| json!({"role": "user", "content": content});
    Ok(object(json!({"messages": contents.into_iter().map(message).collect::<Vec<_>>()})))
}

fn read(context: &Context, uri: &str) -> Answered {
    let between = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let content = match (uri, between) {
        ("test://static-text", _) => json!({
            "mimeType": "text/plain",
            "text": "This is the content of the static text resource.",
        }),
        ("test://static-binary", _) => json!({"mimeType": "image/png", "blob": PIXEL}),
        (_, Some(id)) => json!({
            "mimeType": "application/json",
            "text": json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")})
                .to_string(),
        }),
        _ => {
            let code = if context.revision.is_stateless() { -32602 } else { -32002 };
            let error = RpcError::new(code, "there is no such resource");
            return Err(error.with_data(json!({"uri": uri})));
        }
    };
    let mut content = object(content);
    content.insert("uri".to_owned(), json!(uri));
    Ok(kept(context, json!({"contents": [content]})))
}

/// With how long it may be kept, in the revision that says so.
fn kept(context: &Context, result: Value) -> Map<String, Value> {
    let mut result = object(result);
    if context.revision.is_stateless() {
        result.insert("ttlMs".to_owned(), json!(0));
        result.insert("cacheScope".to_owned(), json!("private"));
    }
    result
}

fn object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

fn text<'a>(fields: &'a Map<String, Value>, name: &str) -> &'a str {
    fields.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn failed(message: impl Into<String>) -> RpcError {
    RpcError::new(-32603, message)
}
