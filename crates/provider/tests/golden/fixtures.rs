//! Reads fixtures and shows what we have as JSON.

use std::{fs, path::PathBuf};

use provider::{Assembled, Format, ProviderError, WireCall, WireResult};
use serde_json::{Value, json};
use tool::{Block, ToolInfo};

/// The smallest PNG there is.
pub(crate) const PIXEL: &[u8] =
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89";

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

fn read(path: &str) -> Value {
    let text = fs::read_to_string(folder().join(path)).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Compares with `<format>/<name>.json`, or writes it.
pub(crate) fn compare(format: Format, name: &str, found: &Value) {
    compare_file(&format!("{format}/{name}.json"), found);
}

/// Compares with a file, or writes it.
pub(crate) fn compare_file(path: &str, found: &Value) {
    if std::env::var_os("UPDATE_FIXTURES").is_some() {
        let text = serde_json::to_string_pretty(found).unwrap();
        fs::write(folder().join(path), text + "\n").unwrap();
        return;
    }
    assert_eq!(&read(path), found, "{path}");
}

/// Compares `expected` of each case in `<format>/<name>.json` with what `run` makes of it.
pub(crate) fn compare_cases(format: Format, name: &str, run: impl Fn(&Value) -> Value) {
    let mut cases = read(&format!("{format}/{name}.json"));
    for case in cases.as_array_mut().unwrap() {
        let found = run(case);
        if std::env::var_os("UPDATE_FIXTURES").is_none() {
            assert_eq!(case["expected"], found, "{format}: {}", case["case"]);
        }
        case["expected"] = found;
    }
    compare(format, name, &cases);
}

/// The built-in tools, and one from a plugin with an untidy schema.
pub(crate) fn tools() -> Vec<ToolInfo> {
    let given = read("plugin.json");
    let field = |key: &str| given.get(key).cloned().unwrap_or_default();
    let text = |key: &str| field(key).as_str().unwrap_or_default().to_owned();
    let mut plugin = ToolInfo::new(&text("name"), &text("description"), field("parameters"));
    plugin.label = text("label");
    plugin.effects = serde_json::from_value(field("effects")).unwrap();
    plugin.repeatable = field("repeatable") == true;
    let builtin = tools::builtin().into_iter().map(|tool| ToolInfo::clone(tool.info()));
    builtin.chain([plugin]).collect()
}

/// Results of every kind.
pub(crate) fn results() -> Vec<(&'static str, Vec<WireResult>)> {
    let result = |id: &str, name: &str, blocks: Vec<Block>| WireResult {
        id: Some(id.to_owned()),
        name: Some(name.to_owned()),
        blocks,
        structured: None,
        is_error: false,
    };
    let text = |text: &str| Block::Text(text.to_owned());
    let image = || Block::Image { mime: "image/png".to_owned(), data: PIXEL.to_vec() };
    let value = json!({"entries": [{"name": "a.txt", "bytes": 3}], "truncated": false});
    let plain = result("call_1", "read", vec![text("# Title\nßpecial „quotes“ \u{1f600}")]);
    let failed = WireResult {
        is_error: true,
        ..result("call_2", "read", vec![text("file_not_found: `b.txt` does not exist")])
    };
    let structured = WireResult {
        structured: Some(value.clone()),
        ..result("call_3", "ls", vec![text(&value.to_string())])
    };
    let pictured = result("call_4", "read", vec![text("logo.png, 1 × 1"), image()]);
    vec![
        ("text", vec![plain.clone()]),
        ("error", vec![failed.clone()]),
        ("structured", vec![structured.clone()]),
        ("image", vec![pictured.clone()]),
        ("parallel", vec![plain, failed, structured, pictured]),
        ("none", vec![]),
    ]
}

/// The recorded streams of a format, by name.
pub(crate) fn streams(format: Format) -> Vec<(String, Vec<u8>)> {
    let folder = folder().join(format.name()).join("streams");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut streams: Vec<_> = files
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())
        })
        .collect();
    streams.sort();
    streams
}

pub(crate) fn call(call: &WireCall) -> Value {
    match &call.args {
        Ok(args) => json!({"id": call.id, "name": call.name, "args": args}),
        Err(reason) => json!({"id": call.id, "name": call.name, "wrong": reason}),
    }
}

pub(crate) fn result(result: &WireResult) -> Value {
    let block = |block: &Block| match block {
        Block::Text(text) => json!(text),
        Block::Image { mime, data } => json!({"mime": mime, "bytes": data.len()}),
    };
    json!({
        "id": result.id,
        "name": result.name,
        "blocks": result.blocks.iter().map(block).collect::<Vec<_>>(),
        "structured": result.structured,
        "is_error": result.is_error,
    })
}

pub(crate) fn assembled(outcome: &Result<Assembled, ProviderError>) -> Value {
    match outcome {
        Ok(Assembled { text, calls, finish, usage, message }) => json!({
            "text": text,
            "calls": calls.iter().map(call).collect::<Vec<_>>(),
            "finish": format!("{finish:?}"),
            "usage": usage,
            "message": message,
        }),
        Err(error) => json!({"error": error.to_string()}),
    }
}
