use serde_json::json;

use super::*;

const PATH: &[&str] = &["extensions", "toolgate"];
const STALE: &[&str] = &["args", "cmd", "env_keys", "uri"];

fn entry() -> Map<String, Value> {
    let entry = json!({"args": ["mcp"], "cmd": "/bin/toolgate", "enabled": true, "timeout": 300});
    entry.as_object().unwrap().clone()
}

fn put_into(text: &str) -> Result<String, Mistake> {
    put(text, PATH, (&entry(), STALE))
}

const OURS: &str = "  toolgate:\n    args:\n      - \"mcp\"\n    cmd: \"/bin/toolgate\"\n    enabled: true\n    timeout: 300\n";

#[test]
fn what_looks_like_a_comment_in_a_text_stays_in_it() {
    for (text, is_comment) in [
        ("extensions:\n  a:\n    code: |\n      x\n      # end\n", false),
        ("extensions:\n  a:\n    code: >-\n      x\n\n      # end\n", false),
        ("extensions:\n  a:\n    code: |2-\n        x\n      # end\n", false),
        ("extensions:\n  a:\n    - |\n      # end\n", false),
        ("extensions:\n  a:\n    - b: !!str |\n        x\n        # end\n", false),
        ("extensions:\n  a: &x |+\n    # end\n\n", false),
        ("extensions:\n  a:\n    code: |\n      x\n    # end\n", true),
        ("extensions:\n  a:\n    code: '|'\n    # end\n", true),
        ("extensions:\n  a:\n    code: x |\n    # end\n", true),
    ] {
        let new = put_into(text).unwrap();
        let before = new.split(OURS).next().unwrap();
        assert_eq!(before.contains("# end"), !is_comment, "{text}\n{new}");
        assert_eq!(put_into(&new).unwrap(), new);
        assert_eq!(take(&new, PATH).unwrap(), text);
    }
}

#[test]
fn what_only_a_whole_parser_could_find_the_end_of_is_left_alone() {
    for (text, line) in [
        ("a: \"first\nextensions: x\"\n", 1),
        ("extensions:\n  a: 'it\n    # is'\n", 2),
        ("extensions:\n  a: [1,\n    2]\n", 2),
        ("extensions:\n  a: {b: \"}\"\n    }\n", 2),
        ("a: 1\rextensions:\n", 1),
        ("a: 1\n---\nb: 2\n", 2),
        // They would end with a new line.
        ("extensions:\n  a: 1\nb: |\n  text", 4),
        ("b: |\n  text", 2),
    ] {
        let mistake = put_into(text).unwrap_err();
        assert_eq!(mistake.position(text).0, line, "{text}: {mistake:?}");
    }
    let closed = "extensions:\n  a: [\"]\", '{', {b: []}] # x\n  c: 'it''s' # y\n";
    assert_eq!(put_into(closed).unwrap(), format!("{closed}{OURS}"));
}

/// As goose writes its file after it has read it.
const REWRITTEN: &str = "extensions:
  developer:
    enabled: true
    type: builtin
  toolgate:
    enabled: true
    cmd: /bin/toolgate
    args:
    - mcp
    envs: {}
    env_keys: []
    timeout: 300
    bundled: null
    available_tools: []
GOOSE_MODEL: m
";

#[test]
fn what_goose_wrote_anew_is_known_again() {
    assert_eq!(put_into(REWRITTEN).unwrap(), REWRITTEN);
    for (from, to) in [("/bin/toolgate", "/old/toolgate"), ("- mcp", "- mcp\n    - '--agent=a'")] {
        let new = put_into(&REWRITTEN.replace(from, to)).unwrap();
        let found = get(&new, PATH).unwrap().unwrap();
        for (key, value) in entry() {
            assert_eq!(found.get(&key), Some(&value), "{new}");
        }
        assert_eq!(found.get("available_tools"), Some(&json!([])), "what was added stays: {new}");
        assert!(new.ends_with("GOOSE_MODEL: m\n"), "{new}");
    }
}

#[test]
fn keys_for_another_way_go_and_what_is_not_understood_is_not_rewritten() {
    let http = "extensions:\n  toolgate:\n    uri: https://x/mcp\n    env_keys:\n    - TOOLGATE_TOKEN\n    available_tools:\n    - read\n";
    let new = put_into(http).unwrap();
    assert!(!new.contains("uri") && !new.contains("TOOLGATE_TOKEN"), "{new}");
    assert!(new.contains("available_tools:\n      - \"read\"\n"), "{new}");
    for more in
        ["# mine\n", "cmd: x # mine\n", "note: |\n      text\n", "ratio: 1.5\n", "on: {a: b}\n"]
    {
        let text = format!("extensions:\n  toolgate:\n    enabled: false\n    {more}    name: x\n");
        let mistake = put_into(&text).unwrap_err();
        assert!(mistake.message.contains("holds more than Toolgate wrote"), "{more}: {mistake:?}");
    }
}
