//! `toolgate chat`.

mod input;
mod shown;

use std::{process::ExitCode, sync::Arc};

use agent::{Agents, Event, Input, Sink};
use anyhow::Result;
use clap::Args;
use serde_json::json;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tool::Sessions as _;
use toolgate::{Approver, Caller};

use self::{
    input::{Asked, Lines},
    shown::Shown,
};
use crate::{
    cli::{Global, Identity},
    commands::Reader,
    context, output,
    terminal::Terminal,
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
        let config = context::configuration_for(global, &self.identity)?;
        let at_terminal = || Arc::new(Terminal::of_chat()) as Arc<dyn Approver>;
        let approver = context::person().is_ok().then(at_terminal);
        let gate = context::gate_as(global, config, &self.identity.agent, approver)?;
        context::announce_isolation(gate.runner());
        let (agents, caller) = (gate.agents().clone(), context::caller(&self.identity));
        let talk = Talk { agents, caller, model: self.model };
        let code = match self.message {
            Some(text) => talk.once(text, Reader::from(self.json)).await?,
            None => talk.on().await?,
        };
        gate.runner().shutdown().await;
        Ok(code)
    }
}

struct Talk {
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
    async fn on(mut self) -> Result<ExitCode> {
        let lines = Lines::new();
        if lines.is_terminal() {
            output::line(format_args!(
                "Agent `{}`, session `{}`. `/help` shows what else there is; Ctrl-D ends.",
                self.caller.agent, self.caller.session
            ));
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
                Asked::Status => {
                    let info = self.agents.status(&self.caller, None).await?;
                    output::json(&info)?;
                }
                Asked::Model(model) => self.model = Some(model),
                Asked::Message(text) => {
                    let said = self.say(text).await;
                    // At a terminal the person saw it; a script wants to know.
                    if !lines.is_terminal() {
                        code = said;
                    }
                }
            }
        }
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
