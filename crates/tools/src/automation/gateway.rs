//! `gateway`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    ConfigChange, ConfigChanged, ConfigKey, ConfigValue, Configuration, Effect, Info, KeyPath,
    Need, Plan, Section, Tool, ToolContext, ToolError, ToolOutput, ToolResult, schema_of,
};

/// See the configuration you run with, and change how agents speak: their model, prompt, description,
/// temperature and the length of their answers. What limits agents cannot be changed here, such as
/// tools, approvals, hooks, secrets and the sandbox; a person changes that in the file.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Gateway {
    /// `config.get`: what the file says. `config.schema`: which keys there are and which you may
    /// change. `config.patch`: change one key, which then holds at once. `reload`: take over what a
    /// person wrote into the file. `restart` the server.
    action: Action,
    /// For the actions on the configuration: a key such as `agents.main.model`, or a table such as
    /// `agents.main`; put a part with dots in quotes: `agents."a.b".model`. Left out, all of it;
    /// `config.patch` needs a key.
    path: Option<String>,
    /// For `config.patch`: the new value, a text or a number; `null` as text removes the key.
    value: Option<String>,
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
enum Action {
    #[serde(rename = "config.get")]
    Get,
    #[serde(rename = "config.schema")]
    Schema,
    #[serde(rename = "config.patch")]
    Patch,
    #[serde(rename = "reload")]
    Reload,
    #[serde(rename = "restart")]
    Restart,
}

/// What came of it.
#[derive(Default, Serialize, JsonSchema)]
struct Answer {
    /// What the file says.
    #[serde(skip_serializing_if = "Option::is_none")]
    config: Option<ConfigValue>,
    /// The keys there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    keys: Option<Vec<ConfigKey>>,
    /// The key that was changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<ConfigChanged>,
    /// The file that was taken over.
    #[serde(skip_serializing_if = "Option::is_none")]
    reloaded: Option<String>,
    /// Whether the server will restart as soon as it can.
    #[serde(skip_serializing_if = "Option::is_none")]
    restarting: Option<bool>,
}

impl Tool for Gateway {
    const NAME: &'static str = "gateway";
    const EFFECTS: &'static [Effect] = &[Effect::Read, Effect::Act];
    const INFO: Info = Info { section: Section::Automation, owner_only: true, ..Info::DEFAULT };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Answer>())
    }

    /// What an agent may not change needs nothing: nobody is asked about it, and `run` says why not.
    fn plan(&self) -> Plan {
        Request::try_from(self).map(|request| [request.need()].into()).unwrap_or_default()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let configuration = ctx.gateway();
        let mut answer = Answer::default();
        match Request::try_from(&self)? {
            Request::Get(path) => answer.config = Some(configuration.get(path).await?),
            Request::Schema(path) => answer.keys = Some(configuration.schema(path).await?),
            Request::Patch(change) => answer.changed = Some(configuration.patch(change).await?),
            Request::Reload => answer.reloaded = Some(configuration.reload().await?),
            Request::Restart => {
                configuration.restart().await?;
                answer.restarting = Some(true);
            }
        }
        Ok(ToolOutput::json(answer))
    }
}

/// The same, as far as it makes sense.
enum Request {
    Get(KeyPath),
    Schema(KeyPath),
    Patch(ConfigChange),
    Reload,
    Restart,
}

impl TryFrom<&Gateway> for Request {
    type Error = ToolError;

    fn try_from(call: &Gateway) -> Result<Self, ToolError> {
        let Gateway { action, path, value } = call;
        if value.is_some() && *action != Action::Patch {
            return Err(problem("value", "is for `config.patch`; leave it out"));
        }
        let path = path.as_deref().unwrap_or_default().parse::<KeyPath>();
        let path = path.map_err(|wrong| problem("path", &wrong))?;
        match action {
            Action::Get => Ok(Self::Get(path)),
            Action::Schema => Ok(Self::Schema(path)),
            Action::Patch => {
                let missing = "is missing: give the new value, or `null` as text to remove the key";
                let value = value.as_deref().ok_or_else(|| problem("value", missing))?;
                ConfigChange::new(&path, value)
                    .map(Self::Patch)
                    .map_err(|wrong| problem("", &wrong))
            }
            Action::Reload | Action::Restart if !path.parts().is_empty() => {
                Err(problem("path", "is for actions on the configuration; leave it out"))
            }
            Action::Reload => Ok(Self::Reload),
            Action::Restart => Ok(Self::Restart),
        }
    }
}

impl Request {
    fn need(&self) -> Need {
        match self {
            Self::Get(_) | Self::Schema(_) => Configuration::look(),
            Self::Patch(change) => change.need(),
            Self::Reload => Configuration::reloading(),
            Self::Restart => Configuration::restarting(),
        }
    }
}

fn problem(field: &str, text: &str) -> ToolError {
    ToolError::invalid(Gateway::NAME, field, text)
}
