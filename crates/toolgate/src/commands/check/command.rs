//! `toolgate check command`.

use anyhow::Result;
use clap::{Args, builder::PossibleValuesParser};
use config::{Ask, Security, Tools};
use policy::{
    Situation, Untrusted,
    shell::{Analysis, Command, SafeList, analyse},
    url::UrlRules,
};
use serde_json::Value;
use tool::{Action, After, Argv, Facts, Inlet, Run, Step};
use toolgate::{Caller, Need, Plan};

use super::{Checker, Input, Shown, answer::Answer};
use crate::{cli::Global, context, visible::visible};

/// Stands before the name of a program that no trusted folder has.
const MISSING: &str = "?";

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
        let mut tools = context::configuration(global)?.tools;
        policy::shell::check_safe_bins(&tools.exec)?;
        let named = |text: &Option<String>| text.clone().unwrap_or_default();
        let security = Security::ALL.into_iter().find(|one| one.name() == named(&self.security));
        let ask = Ask::ALL.into_iter().find(|one| one.name() == named(&self.ask));
        let exec = &mut tools.exec;
        exec.security = exec.security.value.max(security.unwrap_or_default()).into();
        if let Some(ask) = ask {
            let own = exec.ask.as_ref().map_or(ask, |own| own.value);
            exec.ask = Some(own.max(ask).into());
        }
        let (urls, safe) = (UrlRules::new(&tools.web.network), SafeList::new(&tools.exec));
        Ok(Commands { tools, urls, safe, caller: Caller::owner("main") })
    }
}

/// Everything that is the same for all lines, worked out once.
struct Commands {
    tools: Tools,
    urls: UrlRules,
    safe: SafeList,
    caller: Caller,
}

impl Commands {
    fn plan(&self, line: &str) -> Plan {
        // What a machine lacks says nothing about the line.
        let find = |name: &str| self.find(name).or_else(|| Some(format!("{MISSING}{name}")));
        let plan = Plan::from([Need::Run(Run::new(line))]);
        policy::complete(plan, &self.tools, self.safe.known(&find))
    }

    fn find(&self, name: &str) -> Option<String> {
        world::find_program(name, self.safe.folders())
    }
}

impl Checker for Commands {
    async fn one(&self, text: &str) -> Result<Shown> {
        let Self { tools, urls, safe: _, caller } = self;
        let situation = Situation { tools, urls, caller, untrusted: Untrusted::default() };
        let decision = policy::decide(situation, &self.plan(text), &Facts::default());
        Answer { input: text.into(), decision, plan: None }.shown()
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
        Answer::unreadable(input, problem).shown()
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
    let shown = visible(&[&[program], arguments.as_slice()].concat().join(" "));
    let reads = match &streams.input {
        Inlet::Own => String::new(),
        Inlet::Null => " with no input".to_owned(),
        Inlet::File(file) => format!(" on `{}`", visible(file)),
    };
    let missing = missing.map_or("", |_| " (which is not installed here)");
    format!("`{shown}`{reads}{missing}")
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
