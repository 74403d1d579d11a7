//! `toolgate call`.

use std::{
    io::{self, Read},
    process::ExitCode,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use config::Loaded;
use provider::WireCall;
use serde_json::{Map, Value};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tool::{Capability, Exec as _};
use toolgate::{Answered, Approver, Caller, Format, Gate, Outcome, Request};

use crate::{
    cli::{Global, Identity, duration},
    context, output,
    terminal::{SaysYes, Terminal, Waits},
    visible::visible,
};

/// The most that is read from standard input: the largest argument there is, and what is around it.
const MAX_STDIN: u64 = 32 * 1024 * 1024;

/// Call a tool and print its outcome as JSON.
///
/// With `--format`, print what a model of that format would get instead; with `-` for the name, read
/// what the model said from standard input, and make every call in it.
///
/// Exit code 0 on success, 1 if a call was refused or failed, 2 on wrong usage.
#[derive(Debug, Args)]
pub(crate) struct CallTool {
    /// The tool; `-` for the calls in a model's message, with `--format`.
    name: String,
    /// Its arguments: `key=value` for texts, `key:=json` for anything else, or one JSON object; `-` reads that from
    /// standard input.
    #[arg(value_name = "ARGUMENT")]
    args: Vec<String>,
    #[command(flatten)]
    identity: Identity,
    /// Answer in this wire format: `openai`, `openai-responses`, `anthropic`, `gemini`, `mcp`, or a
    /// provider of the configuration.
    #[arg(long, value_name = "F")]
    format: Option<String>,
    /// Answer every question with yes, as the owner; recorded as such.
    #[arg(long, conflicts_with = "wait")]
    yes: bool,
    /// Leave a question open for this long, so that `toolgate approvals` elsewhere can answer it.
    #[arg(long, value_name = "5m", value_parser = duration)]
    wait: Option<Duration>,
}

impl CallTool {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        context::check_user(global, &self.identity).await?;
        context::workspace(global, &context::configuration(global)?, &self.identity)?;
        let config = context::adapted(context::configuration(global)?, &self.identity, self.wait);
        let format =
            self.format.as_deref().map(|name| context::format(&config, name)).transpose()?;
        let asked = self.asked(format)?;
        let gate = context::gate_as(global, config, &self.identity.agent, self.approver()?)?;
        if asked.runs_commands(&gate) {
            context::announce_isolation(gate.runner());
        }
        // A call may wait long for a person, and the configuration may change meanwhile.
        let _watch = context::configuration_file(global).map(|path| {
            let (identity, wait) = (self.identity.clone(), self.wait);
            gate.watch(&path, move |path| {
                let Loaded { config, warnings } = config::load_with_warnings(path)?;
                Ok(Loaded { config: context::adapted(config, &identity, wait), warnings })
            })
        });
        let cancel = CancellationToken::new();
        let stop = tokio::spawn({
            let cancel = cancel.clone();
            async move {
                stopped().await;
                cancel.cancel();
            }
        });
        let caller = context::caller(&self.identity);
        let answer = asked.answer(&gate, &caller, cancel).await;
        if let Ok(answer) = &answer {
            suggest_tool(&gate, &caller, &self.name, &answer.outcomes);
        }
        let running = gate.runner().processes(&caller);
        let running = running.iter().filter(|process| process.status().ended.is_none()).count();
        gate.runner().shutdown().await;
        stop.abort();
        let answer = answer?;
        match &answer.shown {
            Some(results) => output::json(results)?,
            None => answer.outcomes.first().map_or(Ok(()), output::json)?,
        }
        if running > 0 {
            output::note(format_args!(
                "toolgate: {running} background process{} ended with the command that started {}",
                if running == 1 { "" } else { "es" },
                if running == 1 { "it" } else { "them" },
            ));
        }
        Ok(exit_code(&answer.outcomes))
    }

    /// Who answers. Inside a command of an agent nobody does.
    fn approver(&self) -> Result<Option<Arc<dyn Approver>>> {
        Ok(match (self.yes, self.wait) {
            (true, _) => {
                context::person()?;
                Some(Arc::new(SaysYes))
            }
            (_, Some(_)) => Some(Arc::new(Waits)),
            (false, None) if context::person().is_err() => None,
            (false, None) => Some(Arc::new(Terminal::of_call())),
        })
    }

    fn asked(&self, format: Option<Format>) -> Result<Asked> {
        match (self.name.as_str(), format, self.args.as_slice()) {
            ("-", Some(format), []) => Ok(Asked::ByModel(format, message()?)),
            ("-", _, _) => bail!("`-` for the name needs `--format`, and no arguments"),
            (name, format, [one]) if pair(one).is_none() => {
                let request = Request::from_text(name, &arguments(Some(one))?);
                Ok(Asked::ByName(Box::new(request), format))
            }
            (name, format, []) => {
                let request = Request::from_text(name, &arguments(None)?);
                Ok(Asked::ByName(Box::new(request), format))
            }
            (name, format, pairs) => {
                Ok(Asked::ByName(Box::new(Request::new(name, object(pairs)?)), format))
            }
        }
    }
}

/// `path=notes.txt`, `limit:=5`.
fn pair(text: &str) -> Option<(&str, &str, PairKind)> {
    let (key, value) = text.split_once('=')?;
    let (key, kind) =
        key.strip_suffix(':').map_or((key, PairKind::Text), |key| (key, PairKind::Json));
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (!key.is_empty() && key.chars().all(is_name)).then_some((key, value, kind))
}

/// How the value of a pair is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairKind {
    Text,
    Json,
}

fn object(pairs: &[String]) -> Result<Value> {
    let mut fields = Map::new();
    for text in pairs {
        let (key, value, kind) = pair(text).with_context(|| {
            format!("`{}` is not `key=value`; for one JSON object give nothing else", visible(text))
        })?;
        let value = match kind {
            PairKind::Text => Value::from(value),
            PairKind::Json => serde_json::from_str(value)
                .with_context(|| format!("`{}` has no JSON after `:=`", visible(text)))?,
        };
        if fields.insert(key.to_owned(), value).is_some() {
            bail!("`{}` is given twice", visible(key));
        }
    }
    Ok(Value::Object(fields))
}

/// Which tool may have been meant where there is none of this name.
fn suggest_tool(gate: &Gate, caller: &Caller, name: &str, outcomes: &[Outcome]) {
    let missing = |outcome: &Outcome| outcome.status() == "tool_not_available";
    if !outcomes.iter().any(missing) {
        return;
    }
    let view = gate.view(caller);
    let infos: Vec<_> = view.tools().map(|entry| entry.info().clone()).collect();
    let names = infos.iter().flat_map(|info| {
        std::iter::once(&*info.name).chain(info.aliases.iter().map(String::as_str))
    });
    if let Some(near) = tool::nearest(name, names).filter(|near| *near != name) {
        output::note(format_args!("toolgate: did you mean `{near}`?"));
    }
}

/// What is to be called.
enum Asked {
    /// One tool; answered in this format, if any.
    ByName(Box<Request>, Option<Format>),
    /// Every call in what a model said.
    ByModel(Format, Value),
}

/// What came of it.
struct Answer {
    /// For a model, in its format; without one, the outcome itself is shown.
    shown: Option<Value>,
    outcomes: Vec<Outcome>,
}

impl Asked {
    /// Whether a command may run. What a model wants is not looked into.
    fn runs_commands(&self, gate: &Gate) -> bool {
        let Self::ByName(request, _) = self else { return true };
        let snapshot = gate.registry().snapshot();
        let found = snapshot.find(&request.name);
        found.is_some_and(|entry| entry.info().uses.contains(&Capability::Exec))
    }

    async fn answer(
        self,
        gate: &Gate,
        caller: &Caller,
        cancel: CancellationToken,
    ) -> Result<Answer> {
        match self {
            Self::ByName(request, format) => {
                let name = request.name.clone();
                let outcome = gate.run(caller, Request { cancel, ..*request }).await;
                let shown = format.map(|format| {
                    let id = Some(outcome.meta().call_id.to_string());
                    let call = WireCall { id, name, args: Ok(Value::Null) };
                    gate.results(caller, format, &[(&call, &outcome)])
                });
                Ok(Answer { shown, outcomes: vec![outcome] })
            }
            Self::ByModel(format, message) => {
                let Answered { results, outcomes } =
                    gate.answer(caller, format, &message, &cancel).await?;
                Ok(Answer { shown: Some(results), outcomes })
            }
        }
    }
}

/// What a model said.
fn message() -> Result<Value> {
    let text = standard_input()?;
    tool::parse_json(&text)
        .map_err(|problem| anyhow!("the message cannot be read as JSON: {problem}"))
}

/// Waits until the person or the system wants the command to end.
pub(super) async fn stopped() {
    let (Ok(mut hangup), Ok(mut terminate)) =
        (signal(SignalKind::hangup()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = hangup.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// 0 if all succeeded, 1 otherwise.
pub(crate) fn exit_code(outcomes: &[Outcome]) -> ExitCode {
    let failed = |outcome: &Outcome| !matches!(outcome, Outcome::Success { .. });
    ExitCode::from(u8::from(outcomes.iter().any(failed)))
}

/// The arguments as text; none is none.
fn arguments(text: Option<&str>) -> Result<String> {
    match text {
        None => Ok(String::new()),
        Some("-") => standard_input(),
        Some(text) => Ok(text.to_owned()),
    }
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    let read = io::stdin().take(MAX_STDIN + 1).read_to_string(&mut text);
    read.context("cannot read the arguments from standard input")?;
    if text.len() as u64 > MAX_STDIN {
        bail!("more than {MAX_STDIN} bytes of arguments on standard input");
    }
    Ok(text)
}
