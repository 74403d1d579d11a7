//! One key of a file is changed, and the rest stays as it was written.

use config::{Prompt, edit, keys, parse};
use proptest::prelude::*;
use serde_json::{Value, json};
use tool::{ConfigChange, KeyPath};

use crate::read;

/// `text` with `value` at `path`, or what is wrong.
fn edited(text: &str, path: &str, value: &Value) -> Result<String, String> {
    let path: KeyPath = path.parse().unwrap();
    edit(text, "toolgate.toml", &path, value).map_err(|error| error.to_string())
}

const FILE: &str = r#"# What we use here.

[tools]
deny = ["write"] # never
  ask   =   "always"

# The one everybody talks to.
[agents.main]
# cheap
model = "local/small"  # for now
maxTokens = 100

tools.allow = ["group:fs"]

[agents.main.limits]
calls = 5

[limits]
depth = 4
# The end.
"#;

#[test]
fn comments_order_and_spelling_stay() {
    for (path, value, old, new) in [
        ("agents.main.model", json!("a"), r#""local/small"  #"#, r#""a"  #"#),
        ("agents.main.max_tokens", json!(7), "maxTokens = 100", "maxTokens = 7"),
        ("agents.main.maxTokens", json!(7), "maxTokens = 100", "maxTokens = 7"),
        ("agents.main.maxTokens", Value::Null, "maxTokens = 100\n", ""),
        ("tools.ask", json!("auto"), r#"ask   =   "always""#, r#"ask   =   "auto""#),
        ("tools.deny", json!(["a", "b"]), r#"["write"]"#, r#"["a", "b"]"#),
        ("agents.main.limits.calls", json!(6), "calls = 5", "calls = 6"),
        ("limits.depth", Value::Null, "depth = 4\n", ""),
        (
            "agents.main.temperature",
            json!(0.5),
            "tools.allow = [\"group:fs\"]\n",
            "tools.allow = [\"group:fs\"]\ntemperature = 0.5\n",
        ),
    ] {
        assert_eq!(edited(FILE, path, &value), Ok(FILE.replace(old, new)), "{path}");
    }
}

#[test]
fn what_is_not_there_is_made_where_it_belongs() {
    for (text, path, value, expected) in [
        ("", "agents.main.model", json!("a"), "[agents.main]\nmodel = \"a\"\n"),
        (
            "# mine\n[tools]\nask = \"auto\"\n",
            "agents.main.model",
            json!("a"),
            "# mine\n[tools]\nask = \"auto\"\n\n[agents.main]\nmodel = \"a\"\n",
        ),
        (
            "agents.main.model = \"a\"\n",
            "agents.main.max_tokens",
            json!(1),
            "agents.main.model = \"a\"\nagents.main.max_tokens = 1\n",
        ),
        ("agents.main.model = \"a\"\n", "agents.main.model", Value::Null, "[agents.main]\n"),
        (
            "[agents.main.tools]\nallow = []\n",
            "agents.main.model",
            json!("a"),
            "[agents.main]\nmodel = \"a\"\n[agents.main.tools]\nallow = []\n",
        ),
        (
            "agents = { main = { model = \"a\" } }\n",
            "agents.main.model",
            json!("b"),
            "agents = { main = { model = \"b\" } }\n",
        ),
        (
            "[agents.\"a.b\"]\nmodel = 'x'\n",
            r#"agents."a.b".model"#,
            json!("y"),
            "[agents.\"a.b\"]\nmodel = \"y\"\n",
        ),
        (
            "[agents.main]\nmodel = { primary = \"x\" }\n",
            "agents.main.model",
            json!("y"),
            "[agents.main]\nmodel = \"y\"\n",
        ),
    ] {
        assert_eq!(edited(text, path, &value).as_deref(), Ok(expected), "{text} {path}");
    }
}

#[test]
fn what_cannot_be_changed_safely_is_refused() {
    for (text, path, value, expected) in [
        ("", "agents.main", json!({"tools": {"allow": ["*"]}}), "a table cannot be set"),
        ("", "agents.main", json!("x"), "`agents.main` is a table; set one key at a time"),
        ("", "", json!("x"), "is a table; set one key at a time"),
        ("", "agents.main.model", json!({"a": 1}), "a table cannot be set"),
        ("", "tools.deny", json!([["a"]]), "a list can hold texts, numbers, and true or false"),
        ("", "agents.main.modl", json!("x"), "did you mean `agents.main.model`?"),
        ("", "agents.main.model.primary", json!("x"), "nothing stands beneath `agents.main.model`"),
        ("", "agents.main.model", Value::Null, "`agents.main.model` is not set"),
        ("[agents.main]\n", "agents.main.model", Value::Null, "`agents.main.model` is not set"),
        ("", "agents.main.max_tokens", json!("x"), "expected a whole number"),
        ("", "agents.main.max_tokens", json!(-1), "expected a whole number"),
        ("", "agents.main.max_tokens", json!(u64::MAX), "the number is too large"),
        ("", "agents.main.description", json!(" "), "expected a text"),
        ("[tools", "agents.main.model", json!("x"), "toolgate.toml:1"),
        ("[tools]\nalow = []", "agents.main.model", json!("x"), "unknown key `tools.alow`"),
        (
            "[[agents.list]]\nid = \"main\"\n",
            "agents.list.model",
            json!("x"),
            "`agents.list` is not written as a table",
        ),
        (
            "[[hooks]]\ncommand = [\"a\"]\n",
            "hooks.1.command",
            json!(["b"]),
            "`hooks` is not written as a table",
        ),
    ] {
        let refused = edited(text, path, &value).unwrap_err();
        assert!(refused.contains(expected), "{path}: {refused}");
    }
}

#[test]
fn json5_is_left_to_people() {
    for file in ["toolgate.json5", "a.JSON"] {
        let path = KeyPath::from(["agents", "main", "model"]);
        let refused = edit("{}", file, &path, &json!("x")).unwrap_err().to_string();
        let expected = "change `agents.main.model` in it by hand";
        assert!(refused.contains(expected), "{refused}");
    }
}

#[test]
fn an_agent_may_change_five_keys_and_each_of_the_others_has_its_reason() {
    let mut changeable = Vec::new();
    for key in keys() {
        let parts: Vec<_> = key
            .path
            .split('.')
            .map(|part| if part.starts_with('<') { "1" } else { part })
            .collect();
        let path = parts.join(".");
        for camel in [path.clone(), camel_case(&path)] {
            let changed = ConfigChange::new(&camel.parse().unwrap(), "1");
            assert_eq!(changed.is_ok(), ConfigChange::is_possible(key.path), "{camel}");
            match changed {
                Ok(changed) => assert_eq!(changed.path().to_string(), path),
                Err(refused) => assert!(refused.contains("it says"), "{camel}: {refused}"),
            }
        }
        changeable.extend(ConfigChange::is_possible(key.path).then_some(key.path));
    }
    let expected = ["description", "model", "prompt", "max_tokens", "temperature"];
    assert_eq!(changeable, expected.map(|key| format!("agents.<id>.{key}")));
}

fn camel_case(key: &str) -> String {
    let mut parts = key.split('_');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |camel, part| {
        let (head, rest) = part.split_at(1);
        camel + &head.to_uppercase() + rest
    })
}

proptest! {
    /// Whatever a text or a name looks like, it is a text or a name in the file.
    #[test]
    fn what_is_set_is_what_is_read(id in ".{1,12}", prompt in "(?s).{1,40}") {
        prop_assume!(!id.trim().is_empty() && !prompt.trim().is_empty());
        prop_assume!(!matches!(id.as_str(), "defaults" | "list") && !prompt.starts_with("file:"));
        let path = KeyPath::from(["agents", &id, "prompt"]);
        let text = edit(FILE, "toolgate.toml", &path, &json!(prompt)).unwrap();
        let (before, mut after) = (read(FILE), read(&text));
        let agent = after.agents.remove(&id).unwrap();
        prop_assert_eq!(agent.prompt.map(|prompt| prompt.value), Some(Prompt::Text(prompt)));
        prop_assert_eq!(before, after);
        // And it can be changed again, and removed.
        let again = edit(&text, "toolgate.toml", &path, &json!("x")).unwrap();
        let gone = edit(&again, "toolgate.toml", &path, &Value::Null).unwrap();
        prop_assert!(parse(&gone, "toolgate.toml").unwrap().agents.contains_key(&id));
        let mut lines = gone.lines();
        prop_assert!(FILE.lines().all(|line| lines.any(|found| found == line)), "{gone}");
    }
}
