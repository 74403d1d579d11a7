use serde_json::{Value, json};
use tool::{Info, ToolInfo};

use super::{ArgumentLimits, Compiled};

const LIMITS: ArgumentLimits =
    ArgumentLimits { string_bytes: 100, large_string_bytes: 1000, array_items: 4, depth: 5 };

fn compiled() -> Compiled {
    let parameters = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1},
            "mode": {"type": "string", "enum": ["overwrite", "append"]},
            "all": {"type": "boolean"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "edits": {"type": "array", "items": {
                "type": "object",
                "properties": {"oldText": {"type": "string"}, "newText": {"type": "string"}},
                "required": ["oldText", "newText"],
            }},
            "env": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "required": ["path"],
    });
    let info = Info {
        parameter_aliases: &[("file_path", "path"), ("old_string", "oldText")],
        large: &["content"],
        ..Info::DEFAULT
    };
    Compiled::new(&ToolInfo::with("t", "A tool.", parameters, info)).unwrap()
}

#[test]
fn reads_what_can_mean_only_one_thing() {
    let compiled = compiled();
    for (args, expected) in [
        (json!({"path": " a.txt "}), json!({"path": "a.txt"})),
        (json!({"filePath": "a"}), json!({"path": "a"})),
        (json!({"Path": "a", "content": "  "}), json!({"path": "a", "content": "  "})),
        (json!({"path": "a", "content": ""}), json!({"path": "a", "content": ""})),
        (json!({"path": 42}), json!({"path": "42"})),
        (json!({"path": "a", "limit": "42"}), json!({"path": "a", "limit": 42})),
        (json!({"path": "a", "limit": 42.0}), json!({"path": "a", "limit": 42})),
        (json!({"path": "a", "limit": null}), json!({"path": "a"})),
        (json!({"path": "a", "mode": "Append"}), json!({"path": "a", "mode": "append"})),
        (json!({"path": "a", "all": "true"}), json!({"path": "a", "all": true})),
        (json!({"path": "a", "tags": "x"}), json!({"path": "a", "tags": ["x"]})),
        (json!({"path": "a", "env": {"X": "1"}}), json!({"path": "a", "env": {"X": "1"}})),
        (
            json!({"path": "a", "edits": [{"old_string": "x", "new_text": "y"}]}),
            json!({"path": "a", "edits": [{"oldText": "x", "newText": "y"}]}),
        ),
    ] {
        assert_eq!(compiled.arguments(args.clone(), LIMITS), Ok(expected), "{args}");
    }
}

#[test]
fn says_everything_that_is_wrong() {
    let compiled = compiled();
    let long = "x".repeat(101);
    for (args, expected) in [
        (Value::Null, "`path`: missing, but required"),
        (json!(""), "`path`: missing, but required"),
        (json!({"path": "  "}), "`path`: missing, but required"),
        (json!({"path": null}), "`path`: missing, but required"),
        (json!([1]), "arguments must be an object"),
        (json!({"path": "a", "pth": 1}), "`pth`: unknown parameter; did you mean `path`?"),
        (json!({"path": "a", "limit": "4x"}), "`limit`: expected integer, got `4x`"),
        (json!({"path": "a", "limit": 0}), "`limit`: 0 is too small; at least 1"),
        (json!({"path": ["a"]}), "`path`: expected string, got an array"),
        (
            json!({"path": "a", "mode": "apend"}),
            "`mode`: expected one of `overwrite`, `append`, got `apend`; did you mean `append`?",
        ),
        (
            json!({"path": "a", "edits": [{"oldText": "x", "old_text": "x", "newText": ""}]}),
            "`edits[0].old_text`: is the same parameter as `oldText`; give it once",
        ),
        (
            json!({"path": "a", "edits": [{"oldText": "x"}]}),
            "`edits[0].newText`: missing, but required",
        ),
        (json!({"path": "a\u{0}"}), "`path`: contains a NUL character; take it out"),
        (json!({"path": long}), "`path`: has 101 bytes, more than the 100 allowed"),
        (
            json!({"path": "a", "tags": ["1", "2", "3", "4", "5"]}),
            "`tags`: has 5 items, more than the 4 allowed",
        ),
        (
            json!({"lmit": 1, "limit": "x"}),
            "`limit`: expected integer, got `x`; `lmit`: unknown parameter; did you mean `limit`?; `path`: missing, but required",
        ),
    ] {
        let problems = compiled.arguments(args.clone(), LIMITS).unwrap_err();
        let mut said: Vec<_> = problems.iter().map(ToString::to_string).collect();
        said.sort();
        assert_eq!(said.join("; "), expected, "{args}");
    }
}

#[test]
fn a_large_parameter_may_be_larger() {
    let compiled = compiled();
    let args = |bytes: usize| json!({"path": "a", "content": "x".repeat(bytes)});
    assert!(compiled.arguments(args(1000), LIMITS).is_ok());
    assert!(compiled.arguments(args(1001), LIMITS).is_err());
}
