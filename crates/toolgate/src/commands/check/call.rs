//! `toolgate check call`.

use anyhow::Result;
use clap::Args;
use gate::Found;
use policy::{Decision, Verdict};
use serde_json::Value;
use tool::ToolError;
use toolgate::{Caller, Gate};

use super::{Checker, Input, Shown, answer::Answer};
use crate::{
    cli::{Global, Identity},
    context,
};

/// Say whether a call would run: `{"tool": …, "arguments": …}`.
#[derive(Debug, Args)]
pub(super) struct CheckCall {
    #[command(flatten)]
    pub(super) input: Input,
    #[command(flatten)]
    identity: Identity,
}

impl CheckCall {
    pub(super) fn checker(&self, global: &Global) -> Result<impl Checker> {
        let config = context::configuration_for(global, &self.identity)?;
        let gate = context::idle_gate(global, config)?;
        Ok(Calls { gate, caller: context::caller(&self.identity) })
    }
}

struct Calls {
    gate: Gate,
    caller: Caller,
}

impl Checker for Calls {
    async fn one(&self, text: &str) -> Result<Shown> {
        let (name, arguments, input) = match named(text) {
            Ok(call) => call,
            Err(problem) => return self.unreadable(text.into(), &problem),
        };
        let check = self.gate.check(&self.caller, &name, &arguments).await;
        let decision = match check.error {
            Some(ToolError::NotAvailable(_)) => self.not_available(&name),
            _ => check.decision,
        };
        Answer { input, decision, plan: check.plan }.shown()
    }

    fn unreadable(&self, input: Value, problem: &str) -> Result<Shown> {
        Answer::unreadable(input, problem).shown()
    }
}

impl Calls {
    /// Whoever asks here owns the policy and may see which rule it was.
    fn not_available(&self, name: &str) -> Decision {
        let deny = |rule: &str, why: String| {
            let reason = format!("tool `{name}` is not available: {why}");
            Decision::new(Verdict::Deny, rule, reason)
        };
        match self.gate.view(&self.caller).find(name) {
            Found::Withheld(_, rule) => {
                let at = rule.at.as_ref().map(|at| format!(" ({at})")).unwrap_or_default();
                deny(&format!("policy.{}", rule.layer), format!("{}{at}", rule.text))
            }
            Found::Unavailable(_, reason) => deny("unavailable", reason.to_owned()),
            Found::Tool(_) | Found::Unknown => {
                deny("unknown", "there is no such tool; `toolgate tools` lists them".to_owned())
            }
        }
    }
}

/// The tool, the arguments, and all of it.
fn named(text: &str) -> Result<(String, Value, Value), String> {
    let form = r#"expected {"tool": …, "arguments": …}"#;
    let call = tool::parse_json(text).map_err(|error| format!("{form}: {error}"))?;
    let fields = call.as_object().ok_or_else(|| form.to_owned())?;
    if let Some(other) = fields.keys().find(|key| !matches!(key.as_str(), "tool" | "arguments")) {
        return Err(format!("{form}: `{other}` is neither"));
    }
    let name = fields.get("tool").and_then(Value::as_str);
    let name = name.ok_or_else(|| format!("{form}: `tool` must be a string"))?.to_owned();
    let arguments = fields.get("arguments").cloned().unwrap_or_default();
    Ok((name, arguments, call))
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_call_names_its_tool() {
        for (text, expected) in [
            (r#"{"tool":"read","arguments":{"path":"a"}}"#, true),
            (r#"{"tool":"read"}"#, true),
            (r#"{"tool":1}"#, false),
            (r#"{"tool":"read","tool":"write"}"#, false),
            (r#"{"tool":"read","args":{}}"#, false),
            ("[]", false),
            ("", false),
        ] {
            assert_eq!(named(text).is_ok(), expected, "{text}");
        }
    }
}
