//! Tools that are known by name and not built yet.
//!
//! What is built describes itself; a row goes when its tool comes. Policy can name either.

use serde_json::json;
use tool::{
    Info,
    Profile::{self, Coding, Gateway, Messaging},
    Section, ToolInfo,
};

use crate::fold;

struct Row(&'static str, Section, &'static [Profile], &'static [&'static str]);

const ROWS: &[Row] = &[
    Row("browser", Section::Ui, &[], &[]),
    Row("canvas", Section::Ui, &[], &[]),
    Row("create_reminder", Section::Tasks, &[], &[]),
    Row("cron", Section::Automation, &[Coding], &[]),
    Row("image", Section::Media, &[Coding], &[]),
    Row("media", Section::Media, &[], &[]),
    Row("memory_get", Section::Memory, &[Coding], &[]),
    Row("memory_search", Section::Memory, &[Coding], &[]),
    Row("message", Section::Messaging, &[Messaging], &[]),
    Row("nodes", Section::Nodes, &[], &[]),
    Row("pdf", Section::Media, &[Coding], &[]),
    Row("script", Section::Runtime, &[Coding], &[]),
    Row("tool_describe", Section::Agents, &[], &[]),
    Row("tool_search", Section::Agents, &[], &[]),
    Row("tts", Section::Media, &[], &[]),
    Row("web_fetch", Section::Web, &[Coding], &[]),
    Row("web_search", Section::Web, &[Coding, Gateway], &[]),
];

/// Tools that only the owner may use.
const OWNER_ONLY: &[&str] = &["cron", "nodes"];

/// Tools that other agent runtimes have under these names and Toolgate does not plan. A policy list taken over
/// from there may name them: a tool that cannot exist here is neither opened nor closed by that.
const OPENCLAW_TOOLS: &[&str] = &[
    "ask_user",
    "automations",
    "bundle-mcp",
    "code_execution",
    "computer",
    "conversations_list",
    "conversations_send",
    "conversations_turn",
    "create_goal",
    "dashboard",
    "dismiss_task",
    "get_goal",
    "heartbeat_respond",
    "image_generate",
    "music_generate",
    "openclaw",
    "plugins",
    "portal",
    "progress_card",
    "screen",
    "sessions",
    "sessions_search",
    "sessions_yield",
    "show_widget",
    "skill_workshop",
    "suggest_task",
    "switch_model",
    "terminal",
    "theme",
    "transcripts",
    "update_goal",
    "update_plan",
    "video_generate",
    "view_image",
    "x_search",
];

/// Whether `folded` is a tool of `OpenClaw` that Toolgate does not have.
pub(crate) fn is_openclaw_tool(folded: &str) -> bool {
    OPENCLAW_TOOLS.iter().any(|name| fold(name) == folded)
}

/// Every tool that is known and not built, as far as policy looks at it.
pub fn planned() -> Vec<ToolInfo> {
    ROWS.iter().map(info).collect()
}

fn info(Row(name, section, profiles, aliases): &Row) -> ToolInfo {
    let owner_only = OWNER_ONLY.contains(name);
    let info = Info { section: *section, profiles, aliases, owner_only, ..Info::DEFAULT };
    ToolInfo::with(name, "Not part of this build yet.", json!({"type": "object"}), info)
}

#[cfg(test)]
mod tests {
    use super::planned;

    #[test]
    fn is_in_order_and_names_each_tool_once() {
        let names: Vec<_> = planned().into_iter().map(|info| info.name).collect();
        assert!(names.is_sorted_by(|a, b| a < b), "{names:?}");
    }
}
