//! `tools.exec` of `OpenClaw`.

use super::{
    FOR_ALL, Limits, drop_if_empty, find, is_false, named, native_if_true, position, table, take_if,
};
use crate::{
    node::{Entry, Value},
    place::snake_case,
};

/// Keys of an agent that were taken over or refused.
const UNDERSTOOD: &[&str] = &["ask", "security", "timeout_sec", "timeout_seconds"];

/// Tools that run commands.
const RUNNERS: &[&str] = &["exec", "process"];

impl Limits<'_> {
    /// `security` and `ask` have other words there, and `allowlist` means more the more `ask` says: what is not on the
    /// list is asked about, or never runs.
    pub(super) fn exec(&mut self, exec: &mut Vec<Entry>) {
        let ask = find(exec, "ask").and_then(|entry| entry.node.text()).unwrap_or("on-miss");
        let allowlist = if ask == "off" { "paranoid" } else { "safe-bin" };
        if let Some(at) = position(exec, "security") {
            let denied = exec.get(at).is_some_and(|entry| entry.node.text() == Some("deny"));
            if denied {
                let Entry { position, .. } = exec.remove(at);
                self.deny(&["tools"], RUNNERS, position);
            }
        }
        if let Some(security) = named(exec, "security")
            && security.node.text() == Some("allowlist")
        {
            security.node.value = Value::Text(allowlist.to_owned());
        }
        if let Some(ask) = named(exec, "ask") {
            let ours = match ask.node.text() {
                Some("off") => "auto",
                Some("on-miss") => "smart",
                _ => "",
            };
            if !ours.is_empty() {
                ask.node.value = Value::Text(ours.to_owned());
            }
        }
        for name in ["timeout_sec", "timeout_seconds"] {
            if let Some(timeout) = named(exec, name) {
                "timeout".clone_into(&mut timeout.name);
            }
        }
        if let Some(strict) =
            take_if(exec, "strict_inline_eval", |value| matches!(value, Value::Bool(true)))
        {
            let hint =
                "`tools.exec.security = \"safe-bin\"` asks before any code that is not known";
            self.refuse(strict.position, "tools.exec.strictInlineEval", hint);
        }
        self.apply_patch(exec);
    }

    fn apply_patch(&mut self, exec: &mut Vec<Entry>) {
        let Some(at) = position(exec, "apply_patch") else { return };
        let Some(Entry { node, .. }) = exec.get_mut(at) else { return };
        let Value::Table(settings) = &mut node.value else { return };
        if let Some(off) = take_if(settings, "enabled", is_false) {
            self.deny(&["tools"], &["apply_patch"], off.position);
        }
        native_if_true(settings, "enabled");
        native_if_true(settings, "workspace_only");
        if let Some(models) = position(settings, "allow_models") {
            let Entry { position, node, .. } = settings.remove(models);
            // Empty is no limit there.
            let is_empty = matches!(&node.value, Value::List(models) if models.is_empty());
            if !is_empty {
                self.set(&["tools", "apply_patch", "models"], node.value, position);
            }
        }
        if settings.is_empty() {
            exec.remove(at);
        }
    }

    /// `agents.<id>.tools.exec`.
    pub(super) fn agent_exec(&mut self, exec: &mut Vec<Entry>, id: &str) {
        if let Some(security) = find(exec, "security") {
            let (position, key) = (security.position, format!("agents.{id}.tools.exec.security"));
            match security.node.text() {
                Some("deny") => self.deny(&["agents", id, "tools"], RUNNERS, position),
                Some("full") => {}
                _ => self.refuse(position, &key, &format!("{FOR_ALL}: `tools.exec.security`")),
            }
        }
        if let Some(ask) = find(exec, "ask")
            && ask.node.text() != Some("off")
        {
            let key = format!("agents.{id}.tools.exec.ask");
            self.refuse(ask.position, &key, &format!("{FOR_ALL}: `tools.exec.ask`"));
        }
        for name in ["timeout_sec", "timeout_seconds"] {
            if let Some(timeout) = find(exec, name) {
                let key = format!("agents.{id}.tools.exec.{}", timeout.name);
                self.refuse(timeout.position, &key, &format!("{FOR_ALL}: `tools.exec.timeout`"));
            }
        }
        if let Some(settings) = table(exec, "apply_patch") {
            if let Some(off) = take_if(settings, "enabled", is_false) {
                self.deny(&["agents", id, "tools"], &["apply_patch"], off.position);
            }
            native_if_true(settings, "workspace_only");
            if let Some(models) = find(settings, "allow_models") {
                let key = format!("agents.{id}.tools.exec.applyPatch.allowModels");
                let hint = format!("{FOR_ALL}: `tools.apply_patch.models`");
                self.refuse(models.position, &key, &hint);
            }
        }
        drop_if_empty(exec, "apply_patch");
        exec.retain(|entry| !UNDERSTOOD.contains(&snake_case(&entry.name).as_str()));
    }
}
