//! `sessions_send`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool::{
    Addressee, Effect, Info, Need, Plan, SendMessage, Sent, Tool, ToolContext, ToolError,
    ToolOutput, ToolResult, schema_of,
};

use super::{INFO, beginning, result};

/// The longest that is waited for an answer.
const MAX_WAIT: u64 = 600;

/// Say something in another conversation and wait for the answer. Its agent then acts with no more
/// rights than you have. To start an agent for a task of its own use `sessions_spawn`.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SessionsSend {
    /// What to say.
    message: String,
    /// To which conversation, as `sessions_list` names it: `agent:AGENT:NAME`. Give this or `label`.
    session_key: Option<String>,
    /// To the conversation with this label.
    label: Option<String>,
    /// With `label`: of this agent, if it is another than you.
    agent_id: Option<String>,
    /// How many seconds to wait for the answer; 0 does not wait.
    #[serde(default = "default_wait")]
    #[schemars(range(max = 600))]
    timeout_seconds: u64,
}

const fn default_wait() -> u64 {
    30
}

impl Tool for SessionsSend {
    const NAME: &'static str = "sessions_send";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info { timeout: Duration::from_secs(MAX_WAIT + 10), ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Sent>())
    }

    fn plan(&self) -> Plan {
        [self.need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let sessions = ctx.sessions().changing(&self.need())?;
        let wait = Duration::from_secs(self.timeout_seconds.min(MAX_WAIT));
        let to = match (self.session_key, self.label) {
            (Some(key), None) => Addressee::Key(key),
            (None, Some(label)) => Addressee::Label(label, self.agent_id),
            (Some(_), Some(_)) => {
                return Err(problem("give `sessionKey` or `label`, not both"));
            }
            (None, None) => {
                return Err(problem("is missing; `sessions_list` shows the keys, or give `label`"));
            }
        };
        let message = SendMessage { to, text: self.message, wait };
        let sent = sessions.send(ctx.caller(), message).await?;
        let output = ToolOutput { untrusted: sent.untrusted.clone(), ..ToolOutput::json(&sent) };
        result(sent.status, sent.reason.as_deref(), output)
    }
}

impl SessionsSend {
    fn need(&self) -> Need {
        let to = self.session_key.as_ref().or(self.label.as_ref());
        let to = to.map_or("another session", String::as_str);
        Need::Keep(format!("say in `{to}`: {}", beginning(&self.message)))
    }
}

fn problem(text: &str) -> ToolError {
    ToolError::invalid(SessionsSend::NAME, "sessionKey", text)
}
