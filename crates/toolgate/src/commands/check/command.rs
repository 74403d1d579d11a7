//! `toolgate check command`.

use anyhow::Result;
use clap::{Args, builder::PossibleValuesParser};
use config::{Ask, Security};
use policy::{
    Checked, CommandCheck, MISSING,
    shell::{Analysis, Command, analyse},
};
use sandbox::{Level, Sandbox, SandboxSettings};
use serde_json::Value;
use tool::{Action, After, Argv, Inlet, IsolationLevel, Step};
use toolgate::{Caller, Plan};

use super::{Checker, Input, Shown, answer::shown};
use crate::{cli::Global, context, visible::visible};

/// Say whether a command may run, and which programs it would start.
#[derive(Debug, Args)]
pub(super) struct CheckCommand {
    #[command(flatten)]
    pub(super) input: Input,
    /// Which commands run; what the configuration says holds if it is stricter.
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Security::ALL.map(Security::name)))]
    security: Option<String>,
    /// When a person is asked; what the configuration says holds if it is stricter.
    #[arg(long, value_name = "MODE", value_parser = PossibleValuesParser::new(Ask::ALL.map(Ask::name)))]
    ask: Option<String>,
}

impl CheckCommand {
    pub(super) fn checker(&self, global: &Global) -> Result<impl Checker> {
        let tools = context::checked_configuration(global)?.tools;
        let named = |text: &Option<String>| text.clone().unwrap_or_default();
        let security = Security::ALL.into_iter().find(|one| one.name() == named(&self.security));
        let ask = Ask::ALL.into_iter().find(|one| one.name() == named(&self.ask));
        let check = CommandCheck::new(tools, security, ask)?;
        Ok(Commands(check.on(level())))
    }
}

/// What the sandbox of this machine offers; as usual where it offers nothing.
fn level() -> IsolationLevel {
    let sandbox = Sandbox::new(SandboxSettings::default());
    match sandbox.report_now().map(|report| report.level) {
        Ok(Level::Reduced) => IsolationLevel::Reduced,
        Ok(Level::Full | Level::None) | Err(_) => IsolationLevel::Full,
    }
}

struct Commands(CommandCheck);

impl Commands {
    fn plan(&self, line: &str) -> Plan {
        self.0.plan(line, world::find_program)
    }
}

impl Checker for Commands {
    async fn one(&self, text: &str) -> Result<Shown> {
        shown(&self.0.check(&Caller::owner("main"), text, &self.plan(text)))
    }

    fn more(&self, text: &str) -> String {
        let plan = self.plan(text);
        match plan.command() {
            Some(run) if run.is_harmless() => run.steps.iter().map(step_in_words).collect(),
            Some(run) => {
                let doubt = visible(&run.doubt);
                format!("{}\n  It is not known to be harmless: {doubt}", found(text))
            }
            None => String::new(),
        }
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        shown(&Checked::unreadable(input, problem))
    }
}

/// How a step of a harmless line runs, for people.
fn step_in_words(step: &Step) -> String {
    let after = match step.after {
        After::Anything => "",
        After::Success => ", if that succeeds",
        After::Failure => ", if that fails",
    };
    let does = match &step.action {
        Action::Enter(folder) => format!("It would go into `{}`", visible(folder)),
        Action::Run(pipeline) => {
            let all: Vec<_> = pipeline.iter().map(argv_in_words).collect();
            format!("It would run {} without a shell", all.join(" and pass its output to "))
        }
    };
    format!("\n  {does}{after}")
}

fn argv_in_words(argv: &Argv) -> String {
    let Argv { path, words, streams, env: _, folder: _ } = argv;
    let path = path.as_deref().unwrap_or(MISSING);
    let arguments: Vec<_> = words.iter().skip(1).map(String::as_str).collect();
    let missing = path.strip_prefix(MISSING);
    let program = missing.unwrap_or(path);
    let line = visible(&[&[program], arguments.as_slice()].concat().join(" "));
    let reads = match &streams.input {
        Inlet::Own => String::new(),
        Inlet::Null => " with no input".to_owned(),
        Inlet::File(file) => format!(" on `{}`", visible(file)),
    };
    let missing = missing.map_or("", |_| " (which is not installed here)");
    format!("`{line}`{reads}{missing}")
}

/// The commands of the line, for people.
fn found(line: &str) -> String {
    match analyse(line) {
        Analysis::Commands(commands) => commands.iter().map(in_words).collect(),
        Analysis::Opaque(why) => {
            format!("\n  What it would run cannot be told: {}", visible(&why.to_string()))
        }
    }
}

fn in_words(command: &Command) -> String {
    let within: Vec<_> = command.within.iter().map(|within| format!(", in {within}")).collect();
    let (source, within) = (visible(&command.source()), visible(&within.concat()));
    if source.is_empty() { String::new() } else { format!("\n  It would run `{source}`{within}") }
}
