//! `toolgate chat`.

mod input;
mod shown;

use std::{path::Path, process::ExitCode, sync::Arc};

use agent::{Agents, Event, Input, Sink};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use store::{Entry, Filter, Status};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool::{CallId, Sessions as _};
use toolgate::{Approver, Caller, Gate, Outcome};

use self::{
    input::{Asked, Lines},
    shown::Shown,
};
use crate::{
    cli::{Global, Identity},
    commands::Reader,
    context, output,
    terminal::Terminal,
    visible::visible,
};

/// Events that wait to be shown; a slow terminal slows the model down.
const MAX_EVENTS: usize = 64;

/// Talk to an agent in the terminal.
///
/// The agent's calls go through the gate, and questions are asked right here. Without a terminal, every
/// line of standard input is a message.
#[derive(Debug, Args)]
pub(crate) struct Chat {
    #[command(flatten)]
    identity: Identity,
    /// Say this, print the answer, and end.
    #[arg(long, short, value_name = "TEXT")]
    message: Option<String>,
    /// Use this model: `provider/model`.
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// With `--message`: print the answer as JSON.
    #[arg(long, requires = "message")]
    json: bool,
}

impl Chat {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        context::check_user(global, &self.identity).await?;
        let folder = context::workspace(global, &context::configuration(global)?, &self.identity)?;
        let config = context::configuration_for(global, &self.identity)?;
        let at_terminal = || Arc::new(Terminal::of_chat()) as Arc<dyn Approver>;
        let approver = context::person().is_ok().then(at_terminal);
        let gate = context::gate_as(global, config, &self.identity.agent, approver)?;
        context::announce_isolation(gate.runner());
        let (agents, caller) = (gate.agents().clone(), context::caller(&self.identity));
        let talk = Talk { gate: gate.clone(), agents, caller, model: self.model };
        let code = match self.message {
            Some(text) => talk.once(text, Reader::from(self.json)).await?,
            None => talk.on(&folder).await?,
        };
        gate.runner().shutdown().await;
        Ok(code)
    }
}

struct Talk {
    gate: Gate,
    agents: Agents,
    caller: Caller,
    model: Option<String>,
}

impl Talk {
    /// One message, one answer.
    async fn once(&self, text: String, reader: Reader) -> Result<ExitCode> {
        let sink = match reader {
            Reader::Program => Sink::default(),
            Reader::Person => return Ok(self.say(text).await),
        };
        let answer = self.agents.run(&self.caller, self.input(text), sink, &interrupt()).await?;
        let usage = json!({"input": answer.usage.input, "output": answer.usage.output});
        output::json(&json!({
            "session": answer.session.to_string(),
            "model": answer.model,
            "text": answer.text,
            "usage": usage,
            "tool_calls": answer.tool_calls,
        }))?;
        Ok(ExitCode::SUCCESS)
    }

    /// Until the person has nothing more to say.
    async fn on(mut self, folder: &Path) -> Result<ExitCode> {
        let lines = Lines::new(self.gate.data_folder());
        if lines.is_terminal() {
            output::line(format_args!(
                "Agent `{}`, session `{}`. `/help` shows what else there is; Ctrl-D ends.",
                self.caller.agent, self.caller.session
            ));
            let model =
                self.model.clone().unwrap_or_else(|| self.agents.model_of(&self.caller.agent));
            output::line(format_args!("Workspace {}", visible(&folder.display().to_string())));
            output::line(format_args!("Model     {}", visible(&model)));
        }
        let mut code = ExitCode::SUCCESS;
        loop {
            match lines.next().await? {
                Asked::Nothing => {}
                Asked::End => return Ok(code),
                Asked::Help => output::line(input::HELP),
                Asked::New => {
                    self.caller.session = agent::new_id().into();
                    output::line(format_args!("Session `{}`.", self.caller.session));
                }
                Asked::Status => self.status().await?,
                Asked::Undo(call) => self.undo(call.as_deref()).await?,
                Asked::Unknown(word, line) if self.has_tool(&word) => {
                    code = self.message(line, &lines).await.unwrap_or(code);
                }
                Asked::Unknown(word, _) => {
                    let near = tool::nearest(&word, input::COMMANDS);
                    let near = near.map(|near| format!("; did you mean `{near}`?"));
                    let hint = near.unwrap_or_else(|| "; `/help` lists them".to_owned());
                    output::note(format_args!("There is no command `{}`{hint}", visible(&word)));
                }
                Asked::Model(model) => self.model = Some(model),
                Asked::Message(text) => code = self.message(text, &lines).await.unwrap_or(code),
            }
        }
    }

    /// Says something. At a terminal the person sees what came of it; a script wants to know.
    async fn message(&self, text: String, lines: &Lines) -> Option<ExitCode> {
        let said = self.say(text).await;
        (!lines.is_terminal()).then_some(said)
    }

    /// Whether `/word` names a tool of the agent, which the built-in demo takes for a call.
    fn has_tool(&self, word: &str) -> bool {
        let name = word.trim_start_matches('/');
        self.gate.view(&self.caller).tools().any(|entry| &*entry.info().name == name)
    }

    async fn status(&self) -> Result<()> {
        let info = self.agents.status(&self.caller, None).await?;
        let model = info.model.clone().unwrap_or_else(|| self.agents.model_of(&self.caller.agent));
        let facts = [
            ("session", info.session_key),
            ("model", self.model.clone().unwrap_or(model)),
            ("messages", info.messages.to_string()),
            ("calls", info.calls.to_string()),
            ("tokens", format!("{} read, {} written", info.input_tokens, info.output_tokens)),
            ("cost", format!("{:.4} US dollars", info.cost)),
        ];
        for (name, text) in facts {
            output::line(format_args!("  {name:<9} {}", visible(&text)));
        }
        Ok(())
    }

    /// Takes back what a call of this session changed.
    async fn undo(&self, call: Option<&str>) -> Result<()> {
        let call = match call.map(str::parse::<CallId>) {
            Some(Ok(call)) => call,
            Some(Err(problem)) => {
                output::note(problem);
                return Ok(());
            }
            None => {
                let Some(last) = self.last_change()? else {
                    output::note("No call of this session has changed anything.");
                    return Ok(());
                };
                last
            }
        };
        match self.gate.undo(&self.caller, call).await {
            Outcome::Success { result, .. } => {
                let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
                output::line(format_args!("{call}: {}", visible(&text)));
            }
            Outcome::Error { message, .. } => {
                output::note(format_args!("{call} is not undone: {}", visible(&message)));
            }
        }
        Ok(())
    }

    /// The newest call of this session that changed something and is not taken back.
    fn last_change(&self) -> Result<Option<CallId>> {
        let filter = Filter {
            user: Some(self.caller.user.to_string()),
            session: Some(self.caller.session.to_string()),
            status: Some(Status::Success),
            ..Filter::default()
        };
        let entries = self.gate.journal().entries(&filter)?;
        let undone: Vec<_> = entries
            .iter()
            .filter(|entry| entry.tool_name == "undo")
            .filter_map(|entry| entry.input.get("call_id")?.as_str())
            .collect();
        let changed = |entry: &&Entry| entry.changed.as_array().is_some_and(|all| !all.is_empty());
        let last = entries
            .iter()
            .filter(|entry| entry.tool_name != "undo")
            .filter(changed)
            .find(|entry| !undone.contains(&entry.id.to_string().as_str()));
        Ok(last.map(|entry| entry.id))
    }

    /// Shows the answer as it comes.
    async fn say(&self, text: String) -> ExitCode {
        let (sender, mut events) = mpsc::channel::<Event>(MAX_EVENTS);
        let (cancel, mut shown) = (interrupt(), Shown::default());
        let run = self.agents.run(&self.caller, self.input(text), Sink::to(sender), &cancel);
        let watch = async {
            while let Some(event) = events.recv().await {
                shown.event(event);
            }
        };
        let (answer, ()) = tokio::join!(run, watch);
        shown.end();
        match answer {
            Ok(_) => ExitCode::SUCCESS,
            Err(error) => {
                output::error(&error.into());
                ExitCode::FAILURE
            }
        }
    }

    fn input(&self, text: String) -> Input {
        Input { model: self.model.clone(), ..Input::text(text) }
    }
}

/// Cancelled by Ctrl-C, for as long as somebody holds on to it.
fn interrupt() -> CancellationToken {
    let cancel = CancellationToken::new();
    let weak = cancel.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => weak.cancel(),
            () = weak.cancelled() => {}
        }
    });
    cancel
}
