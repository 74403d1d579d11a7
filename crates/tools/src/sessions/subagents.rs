//! `subagents`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Conversations, Effect, Info, Need, Plan, Profile, Sent, SessionInfo, Tool, ToolContext,
    ToolError, ToolOutput, ToolResult, schema_of,
};

use super::{INFO, beginning, result};

/// See the agents you started with `sessions_spawn` and those they started, end one, or tell one
/// something while it works.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Subagents {
    /// `list` them, `kill` one with those below it, or `steer` one: tell it `message`.
    action: Action,
    /// Which one, by its session key or its label; `kill` and `steer` need it.
    target: Option<String>,
    /// For `steer`: what to tell it.
    message: Option<String>,
}

/// What to do.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    List,
    Kill,
    Steer,
}

/// What came of it.
#[derive(Default, Serialize, JsonSchema)]
struct Answer {
    /// The agents below you, each after the one that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<Vec<SessionInfo>>,
    /// The sessions that were ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    killed: Option<Vec<String>>,
    /// What became of the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<Sent>,
}

impl Tool for Subagents {
    const NAME: &'static str = "subagents";
    const EFFECTS: &'static [Effect] = &[Effect::Read, Effect::Write];
    const INFO: Info = Info { profiles: &[Profile::Coding], ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Answer>())
    }

    fn plan(&self) -> Plan {
        [self.need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let (sessions, caller) = (ctx.sessions().changing(&self.need())?, ctx.caller());
        let answer = match self.action {
            Action::List => {
                Answer { agents: Some(sessions.children(caller).await?), ..Answer::default() }
            }
            Action::Kill => {
                let killed = sessions.kill(caller, self.target()?).await?;
                Answer { killed: Some(killed), ..Answer::default() }
            }
            Action::Steer => {
                let message = self.message.as_deref();
                let message = message.ok_or_else(|| missing("message", "what to tell it"))?;
                let sent = sessions.steer(caller, self.target()?, message).await?;
                let (status, reason) = (sent.status, sent.reason.clone());
                let answer = Answer { sent: Some(sent), ..Answer::default() };
                return result(status, reason.as_deref(), ToolOutput::json(answer));
            }
        };
        Ok(ToolOutput::json(answer))
    }
}

impl Subagents {
    fn need(&self) -> Need {
        let target = self.target.as_deref().unwrap_or("an agent");
        match self.action {
            Action::List => Conversations::look(),
            Action::Kill => Need::Keep(format!("end `{target}`")),
            Action::Steer => {
                let message = beginning(self.message.as_deref().unwrap_or_default());
                Need::Keep(format!("tell `{target}`: {message}"))
            }
        }
    }

    fn target(&self) -> Result<&str, ToolError> {
        let hint = "the session key or the label of an agent; the action `list` shows them";
        self.target.as_deref().ok_or_else(|| missing("target", hint))
    }
}

fn missing(field: &str, what: &str) -> ToolError {
    ToolError::invalid(Subagents::NAME, field, format!("is missing: give {what}"))
}
