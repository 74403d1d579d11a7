//! Claude Code: `.claude.json` for its servers, `settings.json` for its hooks.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    client::{Client, NAME, Token, nothing, typed},
    format::{Edit, Format},
    json_tree::Dialect,
    surroundings::Surroundings,
};

pub(super) const CLIENT: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    format: Format::Json(Dialect::Json),
    file: |here| {
        Ok(match here.named("CLAUDE_CONFIG_DIR")? {
            Some(folder) => folder.join(".claude.json"),
            None => here.home()?.join(".claude.json"),
        })
    },
    path: &["mcpServers", NAME],
    entry: typed,
    more: nothing,
    token: Token::Variable("${", "}"),
    then: "Start Claude Code again; `claude mcp list` shows it.",
};

/// Where the settings with its hooks are.
pub(super) fn settings(here: &Surroundings<'_>) -> Result<PathBuf> {
    let folder = here.named("CLAUDE_CONFIG_DIR")?;
    let folder = folder.map_or_else(|| Ok::<_, anyhow::Error>(here.home()?.join(".claude")), Ok)?;
    Ok(folder.join("settings.json"))
}

/// Has Claude Code ask `toolgate hook` before each of its own tools. With `args` it is started without
/// a shell; and if it cannot be started, the call is blocked.
pub(super) fn hook(command: &str, args: &[String]) -> Edit {
    let hook = json!({"type": "command", "command": command, "args": args, "onFailure": "block"});
    let item = json!({"matcher": "*", "hooks": [hook]});
    Edit::Item { path: &["hooks", "PreToolUse"], item, ours }
}

/// Whether a group of hooks is the one we added, wherever the program was then.
fn ours(group: &Value) -> bool {
    let hooks = group.get("hooks").and_then(Value::as_array);
    let [hook] = hooks.map_or(&[][..], Vec::as_slice) else { return false };
    let program = hook.get("command").and_then(Value::as_str).unwrap_or_default();
    let args = hook.get("args").and_then(Value::as_array);
    let mut args = args.into_iter().flatten().filter_map(Value::as_str);
    program.rsplit('/').next() == Some("toolgate")
        && args.any(|arg| arg == "hook")
        && args.next() == Some("claude-code")
}
