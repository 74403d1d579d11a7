use super::*;

fn change(path: &str, value: &str) -> Result<String, String> {
    let path = path.parse().map_err(|problem| format!("`path` {problem}"))?;
    ConfigChange::new(&path, value).map(|change| change.to_string())
}

#[test]
fn an_agent_may_change_how_agents_speak() {
    for (path, value, expected) in [
        (
            "agents.main.model",
            "local/qwen3",
            r#"change `agents.main.model` in the configuration to "local/qwen3""#,
        ),
        (
            "agents.main.prompt",
            "a\n[tools]\nb = \"c\"",
            r#"change `agents.main.prompt` in the configuration to "a\n[tools]\nb = \"c\"""#,
        ),
        (
            "agents.main.description",
            " x ",
            r#"change `agents.main.description` in the configuration to " x ""#,
        ),
        (
            "agents.main.max_tokens",
            "4096",
            "change `agents.main.max_tokens` in the configuration to 4096",
        ),
        (
            "agents.main.maxTokens",
            " 1 ",
            "change `agents.main.max_tokens` in the configuration to 1",
        ),
        (
            "agents.main.temperature",
            "0.25",
            "change `agents.main.temperature` in the configuration to 0.25",
        ),
        (
            "agents.main.temperature",
            "1",
            "change `agents.main.temperature` in the configuration to 1",
        ),
        ("agents.main.model", "null", "remove `agents.main.model` from the configuration"),
        (
            r#""agents"."main"."model""#,
            "x",
            r#"change `agents.main.model` in the configuration to "x""#,
        ),
        (
            r#"agents."a.b\"c".model"#,
            "x",
            r#"change `agents."a.b\"c".model` in the configuration to "x""#,
        ),
        (
            "agents.__proto__.model",
            "x",
            r#"change `agents.__proto__.model` in the configuration to "x""#,
        ),
    ] {
        assert_eq!(change(path, value).as_deref(), Ok(expected), "{path}");
    }
}

#[test]
fn nothing_else_may_be_changed_and_the_reason_is_said() {
    for (path, expected) in [
        ("", "say which key with `path`"),
        ("agents", "`agents` is a table, and an agent changes one key at a time"),
        ("agents.main", "`agents.main` is a table, and an agent changes one key at a time"),
        ("agents.main.tools.allow", "it says which tools an agent has"),
        ("agents.main.tools", "it says which tools an agent has"),
        (r#"agents.main."tools"."deny""#, "it says which tools an agent has"),
        ("agents.main.limits.cost", "it says what a run may use up"),
        ("agents.main.subagents", "it says which agents an agent may start"),
        ("agents.main.sessions", "it says whose conversations an agent sees"),
        ("agents.main.workspace", "it says which files an agent works on"),
        ("agents.main.id", "`agents.main.id` is no key that an agent may change"),
        (
            "agents.main.model.primary",
            "`agents.main.model.primary` is no key that an agent may change",
        ),
        ("agents.main.Model", "is no key that an agent may change"),
        ("agents.main.max-tokens", "is no key that an agent may change"),
        ("agents.main.maxtokens", "is no key that an agent may change"),
        ("Agents.main.model", "is no key that an agent may change"),
        (r#""agents.main.model""#, "is no key that an agent may change"),
        (r#"agents."main.tools".allow"#, "is no key that an agent may change"),
        (r#"agents.main."model ""#, "is no key that an agent may change"),
        ("tools.deny", "it says which tools agents have, and when people are asked"),
        ("tools.ask", "it says which tools agents have, and when people are asked"),
        ("hooks.1.command", "it says which programs see calls and stop them"),
        ("limits.approvalTimeout", "it says what calls may use up"),
        ("providers.openai.base_url", "it says where what agents say is sent, and with which key"),
        ("secrets.github", "it says where secrets are"),
        ("server.listen", "it says who reaches the server"),
        ("store.keep_days", "it says what is kept, and for how long"),
        ("main.model", "is no key that an agent may change"),
        ("agents.main\n.model", "`path` is not a key"),
    ] {
        let refused = change(path, "x").unwrap_err();
        assert!(refused.contains(expected), "{path}: {refused}");
    }
}

#[test]
fn a_value_must_fit_its_key() {
    let long = "x".repeat(MAX_BYTES + 1);
    for (path, value, expected) in [
        (
            "agents.main.max_tokens",
            "many",
            r#"`value`: expected a whole number for `max_tokens`, got "many""#,
        ),
        ("agents.main.max_tokens", "-1", "expected a whole number"),
        ("agents.main.max_tokens", "1.5", "expected a whole number"),
        ("agents.main.max_tokens", "0x10", "expected a whole number"),
        ("agents.main.max_tokens", "4294967296", "expected a whole number"),
        ("agents.main.temperature", "nan", "expected a number"),
        ("agents.main.temperature", "1 \n[tools]", "expected a number"),
        ("agents.main.temperature", "{}", "expected a number"),
        ("agents.main.model", " ", "`value` is empty; to remove `model` give `null`"),
        ("agents.main.prompt", "file:/etc/passwd", "as text only, not a file"),
        ("agents.main.prompt", " file:/etc/passwd", "as text only, not a file"),
        ("agents.main.prompt", &long, "more than the 32768 allowed"),
    ] {
        let refused = change(path, value).unwrap_err();
        assert!(refused.contains(expected), "{path}: {refused}");
    }
}
