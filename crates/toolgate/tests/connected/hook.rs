//! Claude Code itself, with a scripted model behind it, asks before it uses its tools.

use scripted::{Reply, Request, ScriptedModel};
use serde_json::{Value, json};

use crate::{
    install::Installed,
    person::{Person, printed},
};

pub(crate) async fn claude_code_asks(installed: &Installed) {
    let person = Person::new();
    person.file("project/a.txt", "it was let read this\n");
    person.toolgate(&["connect", "claude-code", "--hook", "--yes"]);
    let allowed = person.path("project/a.txt").display().to_string();
    let model = ScriptedModel::answering(move |request| next(request, &allowed)).await;
    let base = model.base_url(provider::Format::Anthropic);
    let base = base.trim_end_matches("/v1").to_owned();
    let mut claude = person.command(&installed.claude());
    claude.args(["--print", "--model", "claude-sonnet-4-5", "Read both files."]);
    claude.env("ANTHROPIC_BASE_URL", base).env("ANTHROPIC_API_KEY", "sk-ant-test");
    let said = tokio::task::spawn_blocking(move || printed(&mut claude)).await.unwrap();
    assert!(said.contains("All done."), "{said}");
    let results: String =
        model.requests().iter().map(|one| results(&one.body).join("\n")).collect();
    assert!(results.contains("Toolgate: `/etc/passwd` is outside the workspace"), "{results}");
    assert!(results.contains("it was let read this"), "{results}");
    assert!(!results.contains("root:"), "{results}");
    let entries = person.toolgate(&["history", "--tool", "hook", "--json"]);
    let entries: Value = serde_json::from_str(&entries).unwrap();
    let all = entries.as_array().unwrap().iter();
    let mut decisions: Vec<_> = all.map(|one| one["decision"].as_str().unwrap()).collect();
    decisions.sort_unstable();
    assert_eq!(decisions, ["allow", "deny"], "{entries}");
}

/// A file that is not in the project, and one that is.
fn next(request: &Request, allowed: &str) -> Reply {
    let tools = request.body["tools"].as_array().into_iter().flatten();
    let has_read = tools.into_iter().any(|one| one["name"] == "Read");
    if has_read && results(&request.body).is_empty() {
        let read = |path: &str| ("Read", json!({"file_path": path}));
        return Reply::calls([read("/etc/passwd"), read(allowed)]);
    }
    Reply::text("All done.")
}

/// What came of the calls so far.
fn results(body: &Value) -> Vec<String> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|one| one["content"].as_array().into_iter().flatten());
    blocks.filter(|block| block["type"] == "tool_result").map(Value::to_string).collect()
}
