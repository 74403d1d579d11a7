//! `toolgate emergency`.

use std::{process::ExitCode, sync::Arc, time::Duration};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use config::Config;
use gate::Operation;
use serde_json::{Value, json};
use store::{Emergency as State, EmergencyFile, Said, StoreError};
use tool::{Effect, Effects, Info, Need, Plan, Prepared, ToolInfo};
use toolgate::{BoxFuture, Caller, Outcome, ToolContext, ToolError, ToolOutput, ToolResult};

use super::Reader;
use crate::{
    cli::{Global, duration},
    context, output,
    visible::visible,
};

const BY: &str = "owner (toolgate emergency)";
/// Nobody remembers longer that nobody is asked.
const LONGEST: Duration = Duration::from_hours(24);

/// Stop everything at once, or let everything pass for a time.
///
/// After `stop` no call runs, in any process: those that run are cancelled within a second, and
/// background processes end. `undo` still works. After `override` nobody is asked for a time: what
/// policy would ask about runs, and what it denies stays denied. Both are recorded, and `resume` ends
/// both.
#[derive(Debug, Args)]
pub(crate) struct Emergency {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Let nothing run, and end what runs.
    Stop {
        /// Why; agents read it too.
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Let calls run again, and have people asked again.
    Resume,
    /// Let what people would be asked about run, for a time.
    Override {
        /// How long, at most `24h`.
        #[arg(long = "for", value_name = "10m", value_parser = while_overridden)]
        lasts: Duration,
        /// Why; it is recorded with each call.
        #[arg(long, value_name = "TEXT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
        reason: String,
    },
    /// Show what holds now.
    Status {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

fn while_overridden(text: &str) -> Result<Duration, String> {
    let lasts = duration(text)?;
    if lasts.is_zero() || lasts > LONGEST {
        return Err("it must be more than nothing and at most `24h`".to_owned());
    }
    Ok(lasts)
}

impl Emergency {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let said = |reason| Said { by: BY.to_owned(), at: context::now(), reason };
        let new = match self.action {
            Action::Status { json } => return status(global, Reader::from(json)),
            Action::Stop { reason } => Some(State::Stopped(said(reason))),
            Action::Resume => None,
            Action::Override { lasts, reason } => {
                let until = context::now() + lasts;
                Some(State::Override { said: said(Some(reason)), until })
            }
        };
        context::person()?;
        store::use_reserve();
        let is_override = matches!(new, Some(State::Override { .. }));
        match say(global, new.clone()).await {
            Ok(()) => {}
            // A journal that is full or broken is no reason not to stop, nor to stay stopped.
            Err(error) if !is_override => {
                EmergencyFile::open(&context::data(global)?)?.say(new.as_ref())?;
                output::note(format_args!("It could not be recorded: {}", output::in_full(&error)));
            }
            Err(error) => return Err(error),
        }
        output::note(in_words(new.as_ref()));
        Ok(ExitCode::SUCCESS)
    }
}

/// Says so in every process, and records it like a call. The configuration may be what is broken, so
/// it is left out.
async fn say(global: &Global, new: Option<State>) -> Result<()> {
    let gate = context::gate(global, Config::default(), None)?;
    let file = gate.emergency().clone();
    let operation = Operation {
        info: info(),
        args: args(new.as_ref()),
        prepared: Box::new(Saying { new, file }),
    };
    match gate.perform(&Caller::owner("main"), operation).await {
        Outcome::Success { .. } => Ok(()),
        Outcome::Error { message, .. } => bail!(message),
    }
}

fn info() -> ToolInfo {
    let text = |description: &str| json!({"type": "string", "description": description});
    let parameters = json!({"type": "object", "properties": {
        "action": text("stop, resume or override."),
        "reason": text("Why."),
        "until": text("When an override ends."),
    }});
    let about = "Stop everything, or let everything pass for a time.";
    let info = ToolInfo::with("emergency", about, parameters, Info::DEFAULT);
    ToolInfo { effects: Effects::of(&[Effect::Act]), ..info }
}

fn args(new: Option<&State>) -> Value {
    match new {
        None => json!({"action": "resume"}),
        Some(State::Stopped(said)) => json!({"action": "stop", "reason": said.reason}),
        Some(State::Override { said, until }) => {
            json!({"action": "override", "reason": said.reason, "until": store::shown_time(*until)})
        }
    }
}

/// What is about to be said.
#[derive(Debug)]
struct Saying {
    new: Option<State>,
    file: Arc<EmergencyFile>,
}

impl Prepared for Saying {
    fn plan(&self) -> Plan {
        let what = match &self.new {
            None => "end the emergency".to_owned(),
            Some(State::Stopped(said)) => format!("stop everything{}", because(said)),
            Some(State::Override { said, until }) => {
                let until = store::shown_time(*until);
                format!("let everything pass until {until}{}", because(said))
            }
        };
        [Need::Act(what)].into()
    }

    fn run(self: Box<Self>, _: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(async move {
            let say = move || self.file.say(self.new.as_ref()).map_err(refused);
            tokio::task::spawn_blocking(say).await.map_err(ToolError::internal)??;
            Ok(ToolOutput::text("done"))
        })
    }
}

/// What the person can do something about is said to them.
fn refused(error: StoreError) -> ToolError {
    if matches!(error, StoreError::TooLong | StoreError::EverythingStopped) {
        return ToolError::failed(error.to_string());
    }
    error.into()
}

fn because(said: &Said) -> String {
    said.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default()
}

fn status(global: &Global, reader: Reader) -> Result<ExitCode> {
    let found = EmergencyFile::open(&context::data(global)?)?.state(context::now);
    match (found, reader) {
        (Ok(Some(state)), Reader::Program) => output::json(&state)?,
        (Ok(None), Reader::Program) => output::json(&json!({"state": "normal"}))?,
        (Ok(state), Reader::Person) => output::line(in_words(state.as_ref())),
        (Err(error), Reader::Program) => {
            output::json(&json!({"state": "stopped", "problem": output::in_full(&error.into())}))?;
        }
        (Err(error), Reader::Person) => output::line(format_args!(
            "Everything is stopped, because {}. `toolgate emergency resume` mends it.",
            output::in_full(&error.into())
        )),
    }
    Ok(ExitCode::SUCCESS)
}

fn in_words(state: Option<&State>) -> String {
    match state {
        None => "Calls run, and people are asked where policy says so.".to_owned(),
        Some(State::Stopped(said)) => format!(
            "Everything is stopped since {}, by {}{}. `toolgate emergency resume` ends it.",
            output::time(said.at),
            visible(&said.by),
            visible(&because(said))
        ),
        Some(State::Override { said, until }) => format!(
            "Nobody is asked until {}, says {}{}. `toolgate emergency resume` ends it.",
            output::time(*until),
            visible(&said.by),
            visible(&because(said))
        ),
    }
}
