//! What a file says, as programs are told.

use config::{keys, schema, value_at};
use serde_json::{Value, json};
use tool::KeyPath;

const FILE: &str = r#"
channels.telegram.token = "123:abc"

[agents.main]
model = "local/small"
maxTokens = 100
[agents."a.b"]
[providers.local]
key = "local_key"
headers.x-api-key = "geheim"
[providers.other]
key = "sk-live-4242"
[secrets]
local_key = "env:LOCAL_KEY"
[[hooks]]
command = ["check"]
"#;

fn shown(path: &str) -> Option<Value> {
    value_at(FILE, "toolgate.toml", &path.parse().unwrap()).unwrap()
}

#[test]
fn shows_what_is_written_at_a_path() {
    for (path, expected) in [
        ("agents.main.model", Some(json!("local/small"))),
        ("agents.main", Some(json!({"model": "local/small", "max_tokens": 100}))),
        ("agents.main.max_tokens", Some(json!(100))),
        ("agents.main.maxTokens", Some(json!(100))),
        (r#"agents."a.b""#, Some(json!({}))),
        ("agents.other", None),
        ("agents.main.prompt", None),
        ("tools.deny", None),
        ("hooks.1.command", Some(json!(["check"]))),
        ("hooks", Some(json!({"1": {"command": ["check"]}}))),
        ("secrets", Some(json!({"local_key": "env:LOCAL_KEY"}))),
    ] {
        assert_eq!(shown(path), expected, "{path}");
    }
}

#[test]
fn never_shows_what_may_be_a_secret() {
    let all = shown("").unwrap();
    assert_eq!(
        all["providers"],
        json!({
            "local": {"key": "local_key", "headers": {"x-api-key": "(not shown)"}},
            "other": {"key": "(not shown)"},
        })
    );
    for secret in ["123:abc", "geheim", "sk-live"] {
        assert!(!all.to_string().contains(secret), "{all}");
    }
    assert_eq!(shown("providers.other.key"), Some(json!("(not shown)")));
}

#[test]
fn says_what_is_wrong_with_a_path_or_a_file() {
    for (text, path, expected) in [
        ("", "agents.main.modl", "did you mean `agents.main.model`?"),
        ("", "channels", "unknown key `channels`"),
        ("[tools", "agents", "toolgate.toml:1"),
    ] {
        let refused = value_at(text, "toolgate.toml", &path.parse().unwrap()).unwrap_err();
        assert!(refused.to_string().contains(expected), "{path}: {refused}");
    }
}

#[test]
fn reads_json5_too() {
    let text = "{ agents: { list: [{ id: 'main', model: { primary: 'x' } }] } }";
    let found = value_at(text, "t.json5", &KeyPath::from(["agents", "main", "model"])).unwrap();
    assert_eq!(found, Some(json!("x")));
}

#[test]
fn the_schema_is_the_list_of_keys() {
    let all = schema(&KeyPath::default()).unwrap();
    let paths: Vec<_> = all.iter().map(|key| key.path).collect();
    assert_eq!(paths, keys().iter().map(|key| key.path).collect::<Vec<_>>());
    assert_eq!(
        json!(schema(&KeyPath::from(["agents", "main", "limits", "tokens"])).unwrap()),
        json!([{
            "path": "agents.<id>.limits.tokens",
            "value": "a whole number from 0 to 4294967295",
            "default": "2000000",
            "help": "Tokens that the model may read and write in one run.",
            "changeable": false,
        }])
    );
    let model = schema(&KeyPath::from(["agents", "main", "model"])).unwrap();
    assert!(model.iter().all(|key| key.changeable) && model.len() == 1);
    assert!(schema(&KeyPath::from(["agent"])).unwrap_err().contains("did you mean"));
}
