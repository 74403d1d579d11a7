//! `toolgate agents`.

use std::{path::PathBuf, process::ExitCode};

use agent::{ExistingAgent, MAIN, NewAgent, remove_agent, store_agent};
use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};
use config::{Agent, Config};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{Db, StoredAgent};

use crate::{cli::Global, context, output, visible::visible};

/// What a running server does about it.
const NOTICED: &str = "A server that runs takes it over within a second.";

/// List, make and remove agents: a model, what it is told, and the tools it has.
///
/// Those of the configuration file are changed there; the others are made here, or over the API.
#[derive(Debug, Args)]
pub(crate) struct Agents {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List all agents. `main` is always one.
    List {
        /// Print a list as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show what is set for one agent.
    Show {
        /// The agent.
        id: String,
        /// Print it as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make an agent.
    Add(Box<Add>),
    /// Remove an agent that was made here or over the API. Its sessions stay.
    Remove {
        /// The agent.
        id: String,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// Its name: letters, digits, `_` and `-`.
    id: String,
    /// What it is for, as people and other agents are told.
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The model: `provider/model`; by default that of all agents.
    #[arg(long, value_name = "M")]
    model: Option<String>,
    /// What the model is told before anything else, or `file:PATH` of a text that is read anew each time.
    #[arg(long, value_name = "TEXT")]
    prompt: Option<String>,
    /// The folder its file tools work in; by default the server's own.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
    /// The set of tools it starts from, such as `coding` or `minimal`.
    #[arg(long, value_name = "P")]
    profile: Option<String>,
    /// Only these tools; may be given several times.
    #[arg(long = "allow", value_name = "TOOL")]
    allow: Vec<String>,
    /// Never these tools; may be given several times.
    #[arg(long = "deny", value_name = "TOOL")]
    deny: Vec<String>,
    /// Anything else that `agents.<id>` of the configuration can say, as a JSON object.
    #[arg(long, value_name = "JSON")]
    settings: Option<String>,
    /// Replace all that is set for one that was made before.
    #[arg(long)]
    replace: bool,
    /// Print it as JSON.
    #[arg(long)]
    json: bool,
}

/// An agent, as the API shows it, and what is set for it.
#[derive(Debug, Serialize)]
struct Shown {
    id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// `configuration`, or `api` if it was made.
    from: &'static str,
    settings: Value,
    /// Who made it and when, if somebody did.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    made: Option<Value>,
}

impl Agents {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        if matches!(self.action, Action::Add(_) | Action::Remove { .. }) {
            context::person()?;
        }
        let known = Known::read(global).await?;
        match self.action {
            Action::List { json: true } => output::json(&known.all()?)?,
            Action::List { json: false } => {
                let rows = known.all()?.iter().map(Shown::row).collect();
                output::table(&["id", "description", "model", "from"], rows);
            }
            Action::Show { id, json } => {
                let shown = known.one(&id)?.ok_or_else(|| known.unknown(&id))?;
                if json {
                    output::json(&shown)?;
                } else {
                    shown.print();
                }
            }
            Action::Add(add) => add.run(&known).await?,
            Action::Remove { id } => {
                remove_agent(&known.db, &known.config, &id).await?;
                output::note(format_args!("Agent `{}` is removed. {NOTICED}", visible(&id)));
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Add {
    async fn run(self, known: &Known) -> Result<()> {
        let (replace, json) = (self.replace, self.json);
        let new = self.agent()?;
        let before = known.made(&new.id);
        if before.is_some() && !replace {
            bail!("there is an agent `{}` already; `--replace` changes it", new.id);
        }
        let check = |agent: &Agent| toolgate::check_agent_settings(&known.config, &new.id, agent);
        let made = store_agent(&known.db, &known.config, &new, check, context::now()).await?;
        let moved = before.is_some_and(|before| folder(&before.settings) != folder(&new.settings));
        if json {
            output::json(&Shown::made(&made))?;
        } else {
            let what = if before.is_some() { "is changed" } else { "is made" };
            output::note(format_args!("Agent `{}` {what}. {NOTICED}", made.id));
        }
        if moved {
            output::note("Only its other folder needs a restart of a server that runs.");
        }
        Ok(())
    }

    fn agent(self) -> Result<NewAgent> {
        let mut settings: Map<String, Value> = match &self.settings {
            Some(text) => serde_json::from_str(text).context("`--settings` is no JSON object")?,
            None => Map::new(),
        };
        let workspace = self.workspace.map(std::path::absolute).transpose()?;
        let workspace = workspace.map(|path| path.display().to_string());
        let given = [
            ("description", self.description),
            ("model", self.model),
            ("prompt", self.prompt),
            ("workspace", workspace),
        ];
        for (name, text) in given {
            set(&mut settings, name, text.map(Value::from))?;
        }
        let names = |names: Vec<String>| (!names.is_empty()).then(|| json!(names));
        let tools = [
            ("profile", self.profile.map(Value::from)),
            ("allow", names(self.allow)),
            ("deny", names(self.deny)),
        ];
        if tools.iter().any(|(_, value)| value.is_some()) {
            let own = settings.entry("tools").or_insert_with(|| json!({}));
            let own = own.as_object_mut().context("`tools` in `--settings` is no object")?;
            for (name, value) in tools {
                set(own, name, value)?;
            }
        }
        Ok(NewAgent {
            id: self.id,
            by: "owner".to_owned(),
            settings: Value::Object(settings),
            existing: if self.replace { ExistingAgent::Replace } else { ExistingAgent::Keep },
        })
    }
}

/// Sets what was given as an option, unless `--settings` says something else.
fn set(settings: &mut Map<String, Value>, name: &str, value: Option<Value>) -> Result<()> {
    let Some(value) = value else { return Ok(()) };
    if settings.insert(name.to_owned(), value).is_some() {
        bail!("`{name}` is given twice: as an option and in `--settings`");
    }
    Ok(())
}

fn folder(settings: &Value) -> Option<&Value> {
    settings.get("workspace")
}

/// All agents there are.
struct Known {
    db: Db,
    /// What the file says, without those that were made.
    config: Config,
    /// The text of the file and where it is, if there is one.
    file: Option<(String, String)>,
    made: Vec<StoredAgent>,
}

impl Known {
    async fn read(global: &Global) -> Result<Self> {
        let config = context::configuration(global)?;
        let file = context::configuration_file(global);
        let file = file.map(|path| {
            let text = std::fs::read_to_string(&path)?;
            Ok::<_, std::io::Error>((text, path.display().to_string()))
        });
        let db = context::db(global).await?;
        let made = db.agents(None).await?;
        Ok(Self { db, config, file: file.transpose()?, made })
    }

    fn made(&self, id: &str) -> Option<&StoredAgent> {
        self.made.iter().find(|agent| agent.id == id)
    }

    fn ids(&self) -> Vec<&str> {
        let configured = self.config.agents.keys().map(String::as_str);
        let made = self.made.iter().map(|agent| agent.id.as_str());
        let mut ids: Vec<_> = configured.chain(made).chain([MAIN]).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    fn all(&self) -> Result<Vec<Shown>> {
        let all = self.ids().into_iter().map(|id| self.one(id));
        all.filter_map(Result::transpose).collect()
    }

    /// The file wins, as it does when agents are spoken to.
    fn one(&self, id: &str) -> Result<Option<Shown>> {
        let configured = self.config.agents.get(id);
        if configured.is_none() && id != MAIN {
            return Ok(self.made(id).map(Shown::made));
        }
        let agent = configured.cloned().unwrap_or_default();
        Ok(Some(Shown {
            id: id.to_owned(),
            description: agent.description.map(|text| text.value.to_string()),
            model: agent.model.map(|model| model.value),
            from: "configuration",
            settings: self.said(id)?,
            made: None,
        }))
    }

    /// What the file says about an agent, as it stands there.
    fn said(&self, id: &str) -> Result<Value> {
        let Some((text, file)) = &self.file else { return Ok(json!({})) };
        let said = config::value_at(text, file, &["agents", id].into())?;
        Ok(said.unwrap_or_else(|| json!({})))
    }

    fn unknown(&self, id: &str) -> anyhow::Error {
        context::no_agent(id, self.ids())
    }
}

impl Shown {
    fn made(agent: &StoredAgent) -> Self {
        let StoredAgent { id, owner, settings, created_at: _, changed_at: _ } = agent;
        let text = |name: &str| settings.get(name).and_then(Value::as_str).map(str::to_owned);
        let times = serde_json::to_value(agent).unwrap_or_default();
        let time = |name: &str| times.get(name).cloned().unwrap_or_default();
        let (created, changed) = (time("created_at"), time("changed_at"));
        Self {
            id: id.clone(),
            description: text("description"),
            model: text("model"),
            from: "api",
            settings: settings.clone(),
            made: Some(json!({"owner": owner, "created_at": created, "changed_at": changed})),
        }
    }

    fn row(&self) -> Vec<String> {
        let shown = |text: &Option<String>| text.as_deref().map(visible).unwrap_or_default();
        let Self { id, description, model, from, settings: _, made: _ } = self;
        vec![visible(id), shown(description), shown(model), (*from).to_owned()]
    }

    fn print(&self) {
        let Self { id, description: _, model: _, from, settings, made } = self;
        output::line(format_args!("{}  ({from})", output::bold(&visible(id))));
        let rows = [Some(settings), made.as_ref()].into_iter().flatten();
        for (name, value) in rows.filter_map(Value::as_object).flatten() {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            output::line(format_args!("  {name:<12} {}", visible(&text)));
        }
    }
}
