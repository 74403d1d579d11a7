//! `session_status`.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tool::{
    Conversations, Effect, Info, Need, Plan, Profile, SessionInfo, SessionSettings, Tool,
    ToolContext, ToolOutput, ToolResult, schema_of,
};

use super::INFO;

/// See how a conversation stands, by default this one: model, tokens, cost, calls, questions that
/// wait for a person. With `set`, change its model, label or metadata.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct SessionStatus {
    /// Which conversation, as `sessions_list` names it. Left out, this one.
    session_key: Option<String>,
    /// What to change; what is left out stays.
    set: Option<SessionSettings>,
}

impl Tool for SessionStatus {
    const NAME: &'static str = "session_status";
    const EFFECTS: &'static [Effect] = &[Effect::Read, Effect::Write];
    const INFO: Info =
        Info { profiles: &[Profile::Minimal, Profile::Coding, Profile::Messaging], ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<SessionInfo>())
    }

    fn plan(&self) -> Plan {
        [self.need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let (sessions, caller) = (ctx.sessions().changing(&self.need())?, ctx.caller());
        let key = self.session_key.as_deref();
        let info = match self.set {
            Some(settings) => sessions.change(caller, key, settings).await?,
            None => sessions.status(caller, key).await?,
        };
        Ok(ToolOutput::json(info))
    }
}

impl SessionStatus {
    fn need(&self) -> Need {
        let key = self.session_key.as_deref().unwrap_or("this session");
        match &self.set {
            None => Conversations::look(),
            Some(set) => {
                let set = serde_json::to_string(set).unwrap_or_default();
                Need::Keep(format!("change `{key}`: {set}"))
            }
        }
    }
}
