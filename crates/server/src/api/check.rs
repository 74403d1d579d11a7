//! What would happen. Runs nothing.

use axum::http::Method;
use config::{Ask, Config, Security};
use policy::{Checked, CommandCheck, Resolved, UrlCheck, check_path};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{Caller, FilePath, Format, Need};

use super::{
    endpoint::{Asked, Endpoint, Given},
    input::{Empty, Json as JsonBody},
    output::Json,
    tools::from_problem,
};
use crate::problem::refusals;

/// What is to be checked.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToCheck {
    /// A command, a URL or a path; for `call`, `{"tool": …, "arguments": …}`; for `schema`, a JSON Schema.
    value: Value,
    /// For a path: ask about writing instead of reading.
    #[serde(default)]
    write: bool,
    /// For a command: `full`, `safe-bin` or `paranoid`; what the configuration says holds if it is stricter.
    security: Option<String>,
    /// For a command: `auto`, `smart` or `always`; what the configuration says holds if it is stricter.
    ask: Option<String>,
    /// For a URL: `HOST=IP[,IP]`, judge these hosts as if they had these addresses.
    #[serde(default)]
    resolve: Vec<String>,
    /// For a schema: the wire format.
    format: Option<String>,
}

/// What would happen.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Answered {
    Verdict(Checked),
    Schema {
        /// What was asked about.
        input: Value,
        /// What becomes of it.
        schema: Value,
    },
}

refusals! {
    /// Why nothing is checked.
    NotChecked { Forbidden, Invalid, NotFound }
}

from_problem!(NotChecked);

/// `POST /v1/check/{kind}`.
pub(crate) struct Check;

impl Endpoint for Check {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/check/{kind}";
    const SUMMARY: &'static str = "What would happen, and why: for a `command`, `url`, `path` (the owner only), `call` or `schema`. Runs nothing.";
    type Path = String;
    type Query = Empty;
    type Body = JsonBody<ToCheck>;
    type Answer = Json<Answered>;
    type Refusal = NotChecked;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<Json<Answered>, NotChecked> {
        let JsonBody(wanted) = given.body;
        let caller = asked.caller()?;
        let checked = match given.path.as_str() {
            "call" => call(&asked, &caller, wanted.value).await?,
            "schema" => return schema(&asked.state.gate.config(), wanted).map(Json),
            "command" | "path" | "url" if !asked.signed.is_owner() => {
                let message = "this is for the owner; `call` says what would happen to a call";
                return Err(NotChecked::Forbidden(message.to_owned()));
            }
            "command" => command(&asked, &caller, &wanted)?,
            "path" => path(&asked, caller, wanted).await?,
            "url" => url(&asked, &caller, &wanted)?,
            other => {
                let message = format!(
                    "nothing is known about `{}`; check `call`, `command`, `path`, `schema` or `url`",
                    other.escape_debug()
                );
                return Err(NotChecked::NotFound(message));
            }
        };
        Ok(Json(Answered::Verdict(checked)))
    }
}

async fn call(asked: &Asked, caller: &Caller, value: Value) -> Result<Checked, NotChecked> {
    let gate = &asked.state.gate;
    let (name, arguments, input) = match gate::named(&value.to_string()) {
        Ok(call) => call,
        Err(problem) => return Ok(Checked::unreadable(value, &problem)),
    };
    // Who does not own the policy learns nothing about a tool that is not theirs.
    let check = if asked.signed.is_owner() {
        gate.check_openly(caller, &name, &arguments).await
    } else {
        gate.check(caller, &name, &arguments).await
    };
    Ok(Checked { input, decision: check.decision, plan: None })
}

fn command(asked: &Asked, caller: &Caller, wanted: &ToCheck) -> Result<Checked, NotChecked> {
    let line = text(&wanted.value)?;
    let security = word(wanted.security.as_deref(), &Security::ALL, Security::name)?;
    let ask = word(wanted.ask.as_deref(), &Ask::ALL, Ask::name)?;
    let tools = asked.state.gate.config().tools.clone();
    let check = CommandCheck::new(tools, security, ask)
        .map_err(|error| NotChecked::Internal(error.to_string()))?;
    let isolation = asked.state.runner.isolation();
    let check = check.on(isolation.map(|isolation| isolation.level).unwrap_or_default());
    let plan = check.plan(line, world::find_program);
    Ok(check.check(caller, line, &plan))
}

fn url(asked: &Asked, caller: &Caller, wanted: &ToCheck) -> Result<Checked, NotChecked> {
    let resolved: Result<Vec<Resolved>, _> = wanted.resolve.iter().map(|one| one.parse()).collect();
    let check = UrlCheck::new(
        asked.state.gate.config().tools.clone(),
        resolved.map_err(NotChecked::Invalid)?,
    );
    Ok(check.check(caller, text(&wanted.value)?))
}

async fn path(asked: &Asked, caller: Caller, wanted: ToCheck) -> Result<Checked, NotChecked> {
    let path = text(&wanted.value)?.to_owned();
    let file = FilePath::new(&path);
    let need = if wanted.write { Need::Write(file) } else { Need::Read(file) };
    let (world, looked) = (asked.state.world.clone(), (caller.clone(), need.clone()));
    let look = move || {
        let (caller, need) = looked;
        tool::Capabilities::disk(&*world, &caller).and_then(|disk| disk.look(&need))
    };
    let fact = tokio::task::spawn_blocking(look).await;
    let fact = fact.map_err(|error| NotChecked::Internal(error.to_string()))?;
    Ok(check_path(&asked.state.gate.config().tools, &caller, (&path, need), fact))
}

fn schema(config: &Config, wanted: ToCheck) -> Result<Answered, NotChecked> {
    let name = wanted.format.ok_or_else(|| {
        NotChecked::Invalid("`format` must say for which wire format, such as `openai`".to_owned())
    })?;
    let own = config.providers.iter().find(|(known, _)| known.eq_ignore_ascii_case(&name));
    let format = match own.and_then(|(_, provider)| provider.format.as_ref()) {
        Some(format) => format.value,
        None => name.parse::<Format>().map_err(NotChecked::Invalid)?,
    };
    let schema = provider::schema(format, &wanted.value);
    Ok(Answered::Schema { input: wanted.value, schema })
}

fn text(value: &Value) -> Result<&str, NotChecked> {
    value.as_str().ok_or_else(|| NotChecked::Invalid("`value` must be a string".to_owned()))
}

/// One of a few words.
fn word<T: Copy>(
    text: Option<&str>,
    all: &[T],
    name: impl Fn(T) -> &'static str,
) -> Result<Option<T>, NotChecked> {
    let Some(text) = text else { return Ok(None) };
    let found = all.iter().copied().find(|one| name(*one) == text);
    let names: Vec<_> = all.iter().map(|one| format!("`{}`", name(*one))).collect();
    let message = || format!("`{}` is none of {}", text.escape_debug(), names.join(", "));
    found.map(Some).ok_or_else(|| NotChecked::Invalid(message()))
}
