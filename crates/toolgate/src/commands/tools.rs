//! `toolgate tools`.

mod page;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use gate::{Found, View};
use policy::Rule;
use serde_json::{Value, json};
use toolgate::{Caller, Format, ToolInfo};

use crate::{cli::Global, context, output, visible::visible};

/// List the tools an agent has, or show everything about one.
///
/// Tools that cannot work here, and those policy takes away, are listed with the reason.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// Show everything about this tool; a name or an alias.
    name: Option<String>,
    /// As this agent has them.
    #[arg(long, value_name = "A", default_value = "main")]
    agent: String,
    /// Print the definitions a model gets, as JSON, in this wire format: `openai`, `openai-responses`,
    /// `anthropic`, `gemini`, `mcp`, or a provider of the configuration. Only what the agent has.
    #[arg(long, value_name = "F", conflicts_with = "json")]
    format: Option<String>,
    /// Print all that is known as JSON, with the JSON Schema of the arguments.
    #[arg(long)]
    json: bool,
}

impl Tools {
    pub(crate) fn run(self, global: &Global) -> Result<ExitCode> {
        let Self { name, agent, format, json } = self;
        let config = context::configuration(global)?;
        let format = format.map(|format| context::format(&config, &format)).transpose()?;
        let gate = context::idle_gate_as(global, config, &agent)?;
        let caller = Caller::owner(&agent);
        let view = gate.view(&caller);
        if let Some(format) = format {
            match name {
                None => output::json(&gate.definitions(&caller, format).value)?,
                Some(name) => output::json(&one_definition(&view, &name, format)?)?,
            }
            return Ok(ExitCode::SUCCESS);
        }
        match (name, json) {
            (Some(name), json) => {
                let (info, status) = find(&view, &name)?;
                if json {
                    output::json(&with_chain(&view, info, &status))?;
                } else {
                    output::line(page::in_full(&view, info, &status));
                }
            }
            (None, true) => {
                let tools = all(&view).map(|(info, status)| described(info, &status));
                output::json(&tools.collect::<Vec<_>>())?;
            }
            (None, false) => {
                let head = ["name", "effects", "section", "description", "status"];
                output::table(&head, all(&view).map(|(info, status)| row(info, &status)).collect());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Whether the agent has a tool.
#[derive(Debug)]
enum Status<'a> {
    Available,
    Unavailable(&'a str),
    Withheld(&'a Rule),
}

impl Status<'_> {
    const fn name(&self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Unavailable(_) => "unavailable",
            Self::Withheld(_) => "withheld",
        }
    }

    /// Why not.
    fn reason(&self) -> Option<String> {
        match self {
            Self::Available => None,
            Self::Unavailable(reason) => Some((*reason).to_owned()),
            Self::Withheld(Rule { layer, text, at }) => {
                let at = at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
                Some(format!("{layer} policy: {text}{at}"))
            }
        }
    }

    fn shown(&self) -> String {
        let reason = self.reason().map(|reason| format!(": {}", visible(&reason)));
        format!("{}{}", self.name(), reason.unwrap_or_default())
    }
}

fn all(view: &View) -> impl Iterator<Item = (&ToolInfo, Status<'_>)> {
    view.snapshot().tools().filter_map(|entry| look(view, &entry.info().name))
}

fn look<'a>(view: &'a View, name: &str) -> Option<(&'a ToolInfo, Status<'a>)> {
    match view.find(name) {
        Found::Tool(entry) => Some((entry.info(), Status::Available)),
        Found::Unavailable(entry, reason) => Some((entry.info(), Status::Unavailable(reason))),
        Found::Withheld(entry, rule) => Some((entry.info(), Status::Withheld(rule))),
        Found::Unknown => None,
    }
}

fn find<'a>(view: &'a View, name: &str) -> Result<(&'a ToolInfo, Status<'a>)> {
    if let Some(found) = look(view, name) {
        return Ok(found);
    }
    let names = || view.snapshot().tools().map(|entry| &*entry.info().name);
    match tool::nearest(name, names()) {
        Some(near) => bail!("there is no tool `{name}`; did you mean `{near}`?"),
        None => bail!("there is no tool `{name}`; `toolgate tools` lists them"),
    }
}

/// What a model gets about one tool. One that the agent does not have is not defined for it.
fn one_definition(view: &View, name: &str, format: Format) -> Result<Value> {
    match find(view, name)? {
        (info, Status::Available) => Ok(provider::definition(format, info)),
        (info, status) => bail!("`{}` is {}", info.name, status.shown()),
    }
}

fn row(info: &ToolInfo, status: &Status<'_>) -> Vec<String> {
    vec![
        info.name.to_string(),
        info.effects.to_string(),
        info.section.to_string(),
        visible(&first_sentence(&info.description)),
        status.shown(),
    ]
}

/// Of the first paragraph, in one line.
fn first_sentence(text: &str) -> String {
    let paragraph: Vec<_> = text.lines().take_while(|line| !line.trim().is_empty()).collect();
    let text = paragraph.join(" ");
    let first = text.split_once(". ").map_or(text.as_str(), |(first, _)| first);
    first.trim_end_matches('.').to_owned()
}

/// What programs get about a tool.
fn described(info: &ToolInfo, status: &Status<'_>) -> Value {
    let (rate, at) = (info.rate.as_ref(), rule_of(status).and_then(|rule| rule.at.as_ref()));
    json!({
        "name": info.name,
        "label": info.label,
        "description": info.description,
        "parameters": info.parameters,
        "output": info.output,
        "effects": info.effects,
        "section": info.section,
        "profiles": info.profiles,
        "aliases": info.aliases,
        "timeout_ms": info.timeout.as_millis(),
        "uses": info.uses,
        "rate": rate.map(|rate| json!({"calls": rate.calls, "per_ms": rate.per.as_millis()})),
        "depends": info.depends,
        "requires": info.requires,
        "owner_only": info.owner_only,
        "sandbox": info.sandbox,
        "cache_ms": info.cache.map(|cache| cache.as_millis()),
        "repeatable": info.repeatable,
        "version": info.version,
        "status": status.name(),
        "reason": status.reason(),
        "rule": rule_of(status).map(|rule| {
            json!({"layer": rule.layer, "text": rule.text, "at": at.as_ref().map(ToString::to_string)})
        }),
    })
}

const fn rule_of<'a>(status: &Status<'a>) -> Option<&'a Rule> {
    match status {
        Status::Withheld(rule) => Some(rule),
        Status::Available | Status::Unavailable(_) => None,
    }
}

fn with_chain(view: &View, info: &ToolInfo, status: &Status<'_>) -> Value {
    let mut value = described(info, status);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("chain".to_owned(), chain(view, info));
    }
    value
}

/// What a tool depends on, and what that depends on; definitions with a cycle are never accepted.
fn chain(view: &View, info: &ToolInfo) -> Value {
    let links = info.depends.iter().filter_map(|name| look(view, name));
    let link = |(needed, status): (&ToolInfo, Status<'_>)| {
        json!({
            "name": needed.name,
            "status": status.name(),
            "reason": status.reason(),
            "depends": chain(view, needed),
        })
    };
    links.map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_list_shows_the_first_sentence() {
        for (text, expected) in [
            ("Read a file.", "Read a file"),
            ("Read a file. Then more.", "Read a file"),
            ("Read a.txt\nor more.\n\nNext", "Read a.txt or more"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected);
        }
    }
}
