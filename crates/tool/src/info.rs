//! What is known about a tool without calling it.

use std::{fmt, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{Capability, Effects};

/// The part of the catalogue a tool belongs to; `group:<section>` names them all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Section {
    Fs,
    Runtime,
    Web,
    Memory,
    Notes,
    Tasks,
    Sessions,
    Ui,
    Messaging,
    Automation,
    Nodes,
    Agents,
    Media,
    Time,
    Plugins,
}

impl Section {
    /// Every section, in the order of the variants.
    pub const ALL: [Self; 15] = [
        Self::Fs,
        Self::Runtime,
        Self::Web,
        Self::Memory,
        Self::Notes,
        Self::Tasks,
        Self::Sessions,
        Self::Ui,
        Self::Messaging,
        Self::Automation,
        Self::Nodes,
        Self::Agents,
        Self::Media,
        Self::Time,
        Self::Plugins,
    ];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fs => "fs",
            Self::Runtime => "runtime",
            Self::Web => "web",
            Self::Memory => "memory",
            Self::Notes => "notes",
            Self::Tasks => "tasks",
            Self::Sessions => "sessions",
            Self::Ui => "ui",
            Self::Messaging => "messaging",
            Self::Automation => "automation",
            Self::Nodes => "nodes",
            Self::Agents => "agents",
            Self::Media => "media",
            Self::Time => "time",
            Self::Plugins => "plugins",
        }
    }
}

impl fmt::Display for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A ready-made set of tools; every tool is in `full`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Profile {
    Minimal,
    Coding,
    Messaging,
    Gateway,
}

/// How often one user may call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rate {
    /// This many calls
    pub calls: u32,
    /// in this time.
    pub per: Duration,
}

/// What must be on a machine for a tool to work there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Requires {
    /// `linux`, `macos`, …; empty means any.
    pub platforms: &'static [&'static str],
    /// Programs that must be found.
    pub programs: &'static [&'static str],
}

/// Whether a tool needs a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxNeed {
    /// It does nothing that needs one.
    None,
    /// It runs in one where there is one.
    Preferred,
    /// It does not run without.
    Required,
}

/// What it means that a model makes the same call again and gets the same result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SameResult {
    /// It goes round in circles, and its run is ended in the end.
    NoProgress,
    /// The tool looks at something that goes on by itself, such as a process: the model waits.
    Waiting,
}

/// The optional facts about a tool written in Rust: `Info { timeout: …, ..Info::DEFAULT }`.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "`ToolInfo` describes them")]
pub struct Info {
    pub label: &'static str,
    pub section: Section,
    pub profiles: &'static [Profile],
    pub aliases: &'static [&'static str],
    pub parameter_aliases: &'static [(&'static str, &'static str)],
    pub large: &'static [&'static str],
    pub timeout: Duration,
    pub uses: &'static [Capability],
    pub rate: Option<Rate>,
    pub depends: &'static [&'static str],
    pub requires: Requires,
    pub owner_only: bool,
    pub sandbox: SandboxNeed,
    pub cache: Option<Duration>,
    pub repeatable: bool,
    pub same_result: SameResult,
    pub light: bool,
    pub version: &'static str,
}

impl Info {
    /// What a tool is that says nothing about itself.
    pub const DEFAULT: Self = Self {
        label: "",
        section: Section::Plugins,
        profiles: &[],
        aliases: &[],
        parameter_aliases: &[],
        large: &[],
        timeout: Duration::from_secs(30),
        uses: &[],
        rate: None,
        depends: &[],
        requires: Requires { platforms: &[], programs: &[] },
        owner_only: false,
        sandbox: SandboxNeed::None,
        cache: None,
        repeatable: false,
        same_result: SameResult::NoProgress,
        light: false,
        version: "1",
    };
}

/// What is known about a tool. Made once: a JSON Schema is too dear to build on each call.
#[derive(Debug, Clone)]
pub struct ToolInfo {
    /// Not `&'static`: plugins bring names at run time.
    pub name: Arc<str>,
    /// Name for people.
    pub label: String,
    /// Description for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Value,
    /// JSON Schema of the structured result, if it has one.
    pub output: Option<Value>,
    /// The most any call can do.
    pub effects: Effects,
    /// Where it stands in the catalogue.
    pub section: Section,
    /// The ready-made sets it is in.
    pub profiles: Vec<Profile>,
    /// Other names for it.
    pub aliases: Vec<String>,
    /// Other names for its parameters, and what they mean.
    pub parameter_aliases: Vec<(String, String)>,
    /// Parameters that may be as large as a file.
    pub large: Vec<String>,
    /// How long a call may take.
    pub timeout: Duration,
    /// The capabilities it is given.
    pub uses: Vec<Capability>,
    /// How often a user may call it.
    pub rate: Option<Rate>,
    /// Tools it needs.
    pub depends: Vec<String>,
    /// What must be on the machine.
    pub requires: Requires,
    /// Whether only the owner may call it.
    pub owner_only: bool,
    /// Whether it needs a sandbox.
    pub sandbox: SandboxNeed,
    /// How long a result may be used again for the same call.
    pub cache: Option<Duration>,
    /// Whether calling it twice does no more than calling it once.
    pub repeatable: bool,
    /// What the same call with the same result means.
    pub same_result: SameResult,
    /// Whether a call takes next to none of the processor's time and never blocks: it is run in place, and not in
    /// a task of its own. Its deadline is noticed only when it waits.
    pub light: bool,
    /// Grows when the meaning of its arguments changes.
    pub version: String,
}

impl ToolInfo {
    /// A tool with defaults for everything else.
    pub fn new(name: &str, description: &str, parameters: Value) -> Self {
        Self::with(name, description, parameters, Info::DEFAULT)
    }

    /// A tool with these facts.
    pub fn with(name: &str, description: &str, parameters: Value, info: Info) -> Self {
        let owned = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect();
        let pair = |(from, to): &(&str, &str)| ((*from).to_owned(), (*to).to_owned());
        Self {
            name: name.into(),
            label: if info.label.is_empty() { title(name) } else { info.label.to_owned() },
            description: description.to_owned(),
            parameters,
            output: None,
            effects: Effects::NONE,
            section: info.section,
            profiles: info.profiles.to_vec(),
            aliases: owned(info.aliases),
            parameter_aliases: info.parameter_aliases.iter().map(pair).collect(),
            large: owned(info.large),
            timeout: info.timeout,
            uses: info.uses.to_vec(),
            rate: info.rate,
            depends: owned(info.depends),
            requires: info.requires,
            owner_only: info.owner_only,
            sandbox: info.sandbox,
            cache: info.cache,
            repeatable: info.repeatable,
            same_result: info.same_result,
            light: info.light,
            version: info.version.to_owned(),
        }
    }
}

/// `get_current_time` as `Get current time`.
fn title(name: &str) -> String {
    let spaced = name.replace('_', " ");
    let mut letters = spaced.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
