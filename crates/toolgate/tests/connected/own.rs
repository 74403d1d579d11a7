//! Clients that run here.

use serde_json::{Value, json};

use crate::{
    install::Installed,
    person::{Person, TOKEN, printed},
};

const URL: &str = "http://127.0.0.1:9/mcp";

fn program() -> Value {
    json!(env!("CARGO_BIN_EXE_toolgate"))
}

/// Claude Code starts the server it was given, and is answered.
pub(crate) fn claude_code_connects(installed: &Installed) {
    let person = Person::new();
    person.file(".claude.json", "{\n  \"numStartups\": 1,\n  \"mcpServers\": {}\n}\n");
    person.toolgate(&["connect", "claude-code", "--yes"]);
    let shown = printed(person.command(&installed.claude()).args(["mcp", "get", "toolgate"]));
    for line in ["Scope: User config", "Status: ✔ Connected", "Type: stdio", "Args: mcp"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    person.toolgate(&["connect", "claude-code", "--url", URL, "--token-env", TOKEN.0, "--yes"]);
    let shown = printed(person.command(&installed.claude()).args(["mcp", "get", "toolgate"]));
    for line in ["Type: http", URL, "Authorization"] {
        assert!(shown.contains(line), "{line}: {shown}");
    }
    assert!(!shown.contains("Missing environment"), "{shown}");
    person.toolgate(&["connect", "claude-code", "--remove", "--yes"]);
    let listed = printed(person.command(&installed.claude()).args(["mcp", "list"]));
    assert!(!listed.contains("toolgate"), "{listed}");
}

pub(crate) fn codex_lists_it(installed: &Installed) {
    let person = Person::new();
    person.file(
        ".codex/config.toml",
        "# mine\nmodel = \"m\"\n\n[mcp_servers.other]\ncommand = \"x\" # y\n",
    );
    let listed = || -> Value {
        let list = printed(person.command(&installed.codex()).args(["mcp", "list", "--json"]));
        let list: Value = serde_json::from_str(&list).unwrap();
        let all = list.as_array().unwrap();
        assert!(all.iter().any(|one| one["name"] == "other"), "{list}");
        all.iter().find(|one| one["name"] == "toolgate").cloned().unwrap_or_default()
    };
    person.toolgate(&["connect", "codex", "--yes", "--agent", "main"]);
    let found = listed();
    let transport = &found["transport"];
    assert_eq!((&found["enabled"], &transport["type"]), (&json!(true), &json!("stdio")), "{found}");
    assert_eq!(
        (&transport["command"], &transport["args"]),
        (&program(), &json!(["mcp", "--agent=main"]))
    );
    // What is only for the one way would make Codex refuse all of its file.
    let add = |more: &str| {
        let text = person.text(".codex/config.toml");
        person.file(".codex/config.toml", &format!("{text}{more}"));
    };
    add("cwd = \"/\"\nenv_vars = [\"LANG\"]\n[mcp_servers.toolgate.env]\nA = \"b\"\n");
    assert_eq!(listed()["transport"]["cwd"], "/");
    person.toolgate(&["connect", "codex", "--url", URL, "--token-env", TOKEN.0, "--yes"]);
    let found = listed();
    let transport = &found["transport"];
    assert_eq!((&transport["type"], &transport["url"]), (&json!("streamable_http"), &json!(URL)));
    assert_eq!(transport["bearer_token_env_var"], TOKEN.0);
    assert_eq!(found["auth_status"], "bearer_token", "{found}");
    add("http_headers = { A = \"b\" }\nenv_http_headers = { C = \"LANG\" }\n\
         oauth_resource = \"https://x\"\n");
    assert_eq!(listed()["transport"]["http_headers"]["A"], "b");
    person.toolgate(&["connect", "codex", "--yes"]);
    assert_eq!(listed()["transport"]["type"], "stdio");
    person.toolgate(&["connect", "codex", "--remove", "--yes"]);
    assert_eq!(listed(), Value::Null);
}

pub(crate) fn openclaw_finds_it_valid(installed: &Installed) {
    let person = Person::new();
    person.file(
        ".openclaw/openclaw.json",
        "{\n  // mine\n  mcp: { servers: { other: { command: 'x' }, }, },\n}\n",
    );
    let run = |args: &[&str]| printed(person.script(installed, &installed.openclaw()).args(args));
    person.toolgate(&["connect", "openclaw", "--yes"]);
    run(&["config", "validate"]);
    let found: Value = serde_json::from_str(&run(&["mcp", "show", "toolgate", "--json"])).unwrap();
    assert_eq!((&found["command"], &found["args"]), (&program(), &json!(["mcp"])), "{found}");
    person.toolgate(&["connect", "openclaw", "--url", URL, "--token-env", TOKEN.0, "--yes"]);
    run(&["config", "validate"]);
    let text = person.text(".openclaw/openclaw.json");
    assert!(text.contains("// mine") && text.contains("streamable-http"), "{text}");
}
