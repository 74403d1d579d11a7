//! `toolgate policy`.

mod suggest;

use std::{process::ExitCode, sync::Arc};

use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use policy::{Explanation, LayerVerdict, Verdict};
use toolgate::{Caller, Confined, Gate};

use self::suggest::Suggest;
use crate::{
    cli::{Global, Identity},
    context, output,
    visible::visible,
};

/// Show who may use what and why, and what need not be asked.
#[derive(Debug, Args)]
pub(crate) struct Policy {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Show every tool with what policy says about it, built or not.
    Show(Show),
    /// Explain one tool, layer by layer, with the file and line of each rule.
    Explain(Explain),
    Suggest(Suggest),
}

#[derive(Debug, Args)]
struct Show {
    #[command(flatten)]
    who: Who,
    /// Print a JSON list.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct Explain {
    /// The tool, by any of its names.
    name: String,
    #[command(flatten)]
    who: Who,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The caller that policy is asked about.
#[derive(Debug, Args)]
struct Who {
    #[command(flatten)]
    identity: Identity,
    /// The model provider the agent talks to.
    #[arg(long, value_name = "P")]
    provider: Option<String>,
    /// The model it talks to, for `tools.apply_patch.models`.
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// The agent runs in a sandbox.
    #[arg(long)]
    sandboxed: bool,
    /// The agent was spawned by another one.
    #[arg(long)]
    subagent: bool,
}

impl Who {
    fn caller(&self) -> Caller {
        let text = |name: &Option<String>| name.as_deref().map(Into::into);
        let caller = Caller {
            provider: text(&self.provider),
            model: text(&self.model),
            confined: if self.sandboxed { Confined::Sandboxed } else { Confined::Free },
            ..context::caller(&self.identity)
        };
        let parent = self.subagent.then(|| Arc::new(caller.clone()));
        Caller { parent, ..caller }
    }

    async fn gate(&self, global: &Global) -> Result<Gate> {
        context::check_user(global, &self.identity).await?;
        let config = context::configuration_for(global, &self.identity)?;
        context::idle_gate_as(global, config, &self.identity.agent)
    }
}

impl Policy {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        match self.command {
            Command::Suggest(suggest) => suggest.run(global).await,
            Command::Show(show) => show.run(global).await,
            Command::Explain(explain) => explain.run(global).await,
        }
    }
}

impl Show {
    async fn run(self, global: &Global) -> Result<ExitCode> {
        let (gate, caller) = (self.who.gate(global).await?, self.who.caller());
        let all: Vec<_> =
            known_names(&gate).iter().filter_map(|name| gate.explain(&caller, name)).collect();
        if self.json {
            output::json(&all)?;
        } else {
            output::table(&["tool", "policy", "here", "why"], all.iter().map(row).collect());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Tools that are there, and tools that are known, in name order.
fn known_names(gate: &Gate) -> Vec<Arc<str>> {
    let snapshot = gate.registry().snapshot();
    let built = snapshot.tools().map(|entry| entry.info().name.clone());
    let planned = policy::planned().into_iter().map(|tool| tool.name);
    let mut names: Vec<_> = built.chain(planned).collect();
    names.sort();
    names
}

fn row(explained: &Explanation) -> Vec<String> {
    let here = if explained.available { "available" } else { "not available" };
    let Explanation { tool, verdict, reason, .. } = explained;
    vec![tool.clone(), verdict.to_string(), here.to_owned(), visible(reason)]
}

impl Explain {
    async fn run(self, global: &Global) -> Result<ExitCode> {
        let (gate, caller) = (self.who.gate(global).await?, self.who.caller());
        let Some(explained) = gate.explain(&caller, &self.name) else {
            let names = known_names(&gate);
            let near = tool::nearest(&self.name, names.iter().map(|name| &**name));
            let hint = near.map_or_else(
                || "`toolgate policy show` lists them".to_owned(),
                |name| format!("did you mean `{name}`?"),
            );
            bail!("no tool is called `{}`; {hint}", visible(&self.name))
        };
        if self.json {
            output::json(&explained)?;
            return Ok(ExitCode::SUCCESS);
        }
        let Explanation { tool, verdict, available, reason, layers } = &explained;
        output::line(format_args!("{} {tool}: {}", output::bold(verdict.name()), visible(reason)));
        if !available && *verdict == Verdict::Allow {
            output::line("It is not available here.");
        }
        output::table(
            &["layer", "verdict", "rule", "written in"],
            layers.iter().map(cells).collect(),
        );
        Ok(ExitCode::SUCCESS)
    }
}

fn cells(layer: &LayerVerdict) -> Vec<String> {
    let LayerVerdict { layer, verdict, rule, file, line } = layer;
    let at = file.as_ref().zip(*line).map(|(file, line)| match line {
        0 => file.clone(),
        line => format!("{file}:{line}"),
    });
    let rule = rule.as_deref().map_or_else(|| "no opinion".to_owned(), visible);
    vec![layer.clone(), verdict.to_string(), rule, visible(&at.unwrap_or_default())]
}
