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
use serde_json::Value;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tool::{Capability, Exec as _};
use toolgate::{Answered, Approver, Caller, Format, Gate, Outcome, Request};

use crate::{
    cli::{Global, Identity, duration},
    context, output,
    terminal::{SaysYes, Terminal, Waits},
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
    #[arg(allow_hyphen_values = true)]
    name: String,
    /// Its arguments as a JSON object; `-` reads them from standard input.
    #[arg(value_name = "JSON", allow_hyphen_values = true)]
    args: Option<String>,
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
                "toolgate: processes end with the command that started them, so {running} did"
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
        match (self.name.as_str(), format, &self.args) {
            ("-", Some(format), None) => Ok(Asked::ByModel(format, message()?)),
            ("-", _, _) => bail!("`-` for the name needs `--format`, and no arguments"),
            (name, format, args) => {
                let request = Request::from_text(name, &arguments(args.as_deref())?);
                Ok(Asked::ByName(Box::new(request), format))
            }
        }
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
