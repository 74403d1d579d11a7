//! Claude Code: `.claude.json` for its servers, `settings.json` for its hooks.

use std::{fs, path::PathBuf};

use anyhow::Result;
use serde_json::{Value, json};

use super::{
    client::{Client, NAME, Token, nothing, typed, usual_stale},
    format::{Edit, Format},
    json_tree::Dialect,
    surroundings::Surroundings,
};

pub(super) const CLIENT: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    format: Format::Json(Dialect::Json),
    file,
    path: &["mcpServers", NAME],
    entry: typed,
    stale: usual_stale,
    more: nothing,
    token: Token::Variable("${", "}"),
    then: "Start Claude Code again; `claude mcp list` shows it.",
};

/// Where its servers are: in a file of its first versions, if that is there still.
fn file(here: &Surroundings<'_>) -> Result<PathBuf> {
    let usual = match here.named("CLAUDE_CONFIG_DIR")? {
        Some(folder) => folder.join(".claude.json"),
        None => here.home()?.join(".claude.json"),
    };
    let old = folder(here)?.join(".config.json");
    // An empty one counts only if there is no other.
    let is_used = fs::metadata(&old)
        .is_ok_and(|known| known.is_file() && (known.len() > 0 || !usual.exists()));
    Ok(if is_used { old } else { usual })
}

/// Where the settings with its hooks are.
pub(super) fn settings(here: &Surroundings<'_>) -> Result<PathBuf> {
    Ok(folder(here)?.join("settings.json"))
}

fn folder(here: &Surroundings<'_>) -> Result<PathBuf> {
    match here.named("CLAUDE_CONFIG_DIR")? {
        Some(folder) => Ok(folder),
        None => Ok(here.home()?.join(".claude")),
    }
}

/// Has Claude Code ask `toolgate hook` before each of its own tools. With `args` it is started without
/// a shell; and if it cannot be started, the call is blocked.
pub(super) fn hook(command: &str, args: &[String]) -> Edit {
    let hook = json!({"type": "command", "command": command, "args": args, "onFailure": "block"});
    let item = json!({"matcher": "*", "hooks": [hook]});
    Edit::Item { path: &["hooks", "PreToolUse"], item, ours }
}

/// Whether a group of hooks is the one we added, wherever the program was then and whatever it was called.
fn ours(group: &Value) -> bool {
    let hooks = group.get("hooks").and_then(Value::as_array);
    let [hook] = hooks.map_or(&[][..], Vec::as_slice) else { return false };
    let args = hook.get("args").and_then(Value::as_array);
    let mut args = args.into_iter().flatten().filter_map(Value::as_str);
    let mut word = args.next();
    while let Some("--config" | "--data") = word {
        word = args.nth(1);
    }
    word == Some("hook") && args.next() == Some("claude-code")
}
