//! `toolgate check command`.

use anyhow::Result;
use clap::{Args, builder::PossibleValuesParser};
use config::{Ask, Exec, Security, Tools};
use policy::{
    Situation, Untrusted,
    shell::{Analysis, Command, Judgement, Known, analyse, entries, harmless, trusted_folders},
    url::UrlRules,
};
use serde_json::Value;
use tool::{Facts, Run};
use toolgate::{Caller, Need, Plan};

use super::{Checker, Input, Shown, answer::Answer};
use crate::{cli::Global, context, terminal::visible};

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
        Ok(Commands { urls: UrlRules::new(&tools.web.network), tools })
    }
}

struct Commands {
    urls: UrlRules,
    tools: Tools,
}

impl Checker for Commands {
    async fn one(&self, text: &str) -> Result<Shown> {
        let Self { tools, urls } = self;
        let plan = policy::complete(Plan::from([Need::Run(Run::new(text))]), &tools.exec);
        let caller = &Caller::owner("main");
        let decision = policy::decide(
            Situation { tools, urls, caller, untrusted: Untrusted::default() },
            &plan,
            &Facts::default(),
        );
        let shown = Answer { input: text.into(), decision, plan: None }.shown()?;
        let known = known(text, &tools.exec);
        Ok(Shown { words: format!("{}{}{known}", shown.words, found(text)), ..shown })
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        Answer::unreadable(input, problem).shown()
    }
}

/// What the list of harmless commands says, for people.
fn known(line: &str, exec: &Exec) -> String {
    let (entries, trusted) = (entries(exec), trusted_folders(exec));
    match harmless(line, Known { entries: &entries, find: &|_| None, trusted: &trusted }) {
        Judgement::Harmless(_) => "\n  It is on the list of harmless commands".to_owned(),
        Judgement::Not(reason) => {
            format!("\n  It is not on the list of harmless commands: {}", visible(&reason))
        }
    }
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
