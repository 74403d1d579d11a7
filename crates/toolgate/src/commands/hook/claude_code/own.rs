//! Whether what is called like a tool of ours is one.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use policy::{Decision, Verdict};
use serde_json::Value;

/// No file of a project that is looked at is larger.
const LARGEST: u64 = 1024 * 1024;

/// So many files about agents are looked at; where there are more, nobody knows.
const MOST: usize = 1000;

/// Our own tools pass the gate anyway, if they are ours: a project can have a server of the same name.
pub(super) fn own(cwd: &Path, root: &Path) -> Decision {
    let folders = || cwd.ancestors().chain(root.ancestors());
    let servers = folders().map(|folder| folder.join(".mcp.json")).find(|file| names_us(file));
    let agents = || folders().find_map(|folder| agent_with_us(folder.join(".claude/agents")));
    if let Some(file) = servers.or_else(agents) {
        let reason =
            format!("`{}` may have a server of its own called like `toolgate`", file.display());
        return Decision::new(Verdict::Ask, "hook.own", reason);
    }
    Decision::new(Verdict::Allow, "hook.own", "it passes the gate when it runs")
}

/// Whether a project's file has a server called like ours, or cannot be read.
fn names_us(file: &Path) -> bool {
    match fs::metadata(file) {
        Ok(known) if known.is_file() && known.len() <= LARGEST => {
            let text = fs::read_to_string(file).ok();
            let value = text.and_then(|text| serde_json::from_str::<Value>(&text).ok());
            let Some(value) = value else { return true };
            let Some(servers) = value.get("mcpServers") else { return false };
            // Whatever Claude Code makes of other letters, the name begins like ours.
            let is_like = |name: &String| name.trim().to_lowercase().starts_with("toolgate");
            servers.as_object().is_none_or(|servers| servers.keys().any(is_like))
        }
        Ok(_) => true,
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    }
}

/// The file about an agent that may bring a server called like ours, or what cannot be looked through.
fn agent_with_us(folder: PathBuf) -> Option<PathBuf> {
    let (mut folders, mut seen) = (vec![folder], 0);
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => continue,
            Err(_) => return Some(folder),
        };
        for entry in entries {
            seen += 1;
            let Some(path) = entry.ok().map(|entry| entry.path()).filter(|_| seen <= MOST) else {
                return Some(folder);
            };
            match fs::metadata(&path) {
                Ok(known) if known.is_dir() => folders.push(path),
                Ok(known) if is_text(&path) => {
                    let is_readable = known.is_file() && known.len() <= LARGEST;
                    if !is_readable || brings_us(&path) {
                        return Some(path);
                    }
                }
                Ok(_) | Err(_) => {}
            }
        }
    }
    None
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn is_text(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("md"))
}

/// Whether what is said about an agent names both servers and us, or cannot be read.
fn brings_us(file: &Path) -> bool {
    let Ok(bytes) = fs::read(file) else { return true };
    let text = String::from_utf8_lossy(&bytes).to_lowercase();
    // Where settings stand, a name can be written with escapes too.
    let settings =
        text.trim_start().strip_prefix("---").and_then(|rest| rest.split("\n---").next());
    let is_escaped = settings.is_some_and(|head| head.contains("\\x") || head.contains("\\u"));
    ["mcpservers", "toolgate"].iter().all(|word| is_escaped || text.contains(word))
}
