//! What it costs to speak a provider's format.

use std::{hint::black_box, sync::Arc, time::Instant};

use provider::{Definitions, WireCall, results};
use serde_json::{Value, json};
use tool::{CallIds, Meta, Outcome, ToolInfo, ToolOutput};
use toolgate::Format;
use world::SystemClock;

use super::{
    Row,
    measure::{Times, progress},
};

const ROUNDS: u64 = 500;
const TOOLS: usize = 512;
const RESULT_BYTES: usize = 1_000_000;

/// The rows of one format.
pub(super) const NAMES: [fn(Format) -> String; 2] = [
    |format| format!("provider.{format}.definitions_512"),
    |format| format!("provider.{format}.result_1mb"),
];

/// Both rows of every format.
pub(super) fn all() -> Vec<Row> {
    let [definitions_name, result_name] = NAMES;
    let bar = progress("provider", Format::ALL.len() as u64 * 2);
    let mut rows = Vec::new();
    for format in Format::ALL {
        rows.push(Row::new(definitions_name(format), definitions(format)));
        bar.inc(1);
        rows.push(Row::new(result_name(format), result(format)));
        bar.inc(1);
    }
    bar.finish_and_clear();
    rows
}

/// The definitions of 512 tools that were worked out before.
fn definitions(format: Format) -> Times {
    let parameters = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let tool = |n| Arc::new(ToolInfo::new(&format!("tool_{n}"), "Be there.", parameters.clone()));
    let tools: Vec<_> = (0..TOOLS).map(tool).collect();
    let cache = Definitions::default();
    cache.list(format, &tools);
    timed(|| black_box(cache.list(format, black_box(&tools)).json.len()))
}

/// A structured result of a megabyte, to the bytes that go out. Formats that have a place for the
/// structure carry it besides the text.
fn result(format: Format) -> Times {
    let row = json!({"path": "src/lib.rs", "line": 1_234, "text": "let x = \"quoted\";\n"});
    let rows = RESULT_BYTES / row.to_string().len();
    let output = ToolOutput::json(Value::from(vec![row; rows]));
    let outcome =
        Outcome::new("grep", Ok(output), Meta::new(CallIds::new(Arc::new(SystemClock)).next()));
    let call =
        WireCall { id: Some("call_0".to_owned()), name: "grep".to_owned(), args: Ok(Value::Null) };
    timed(|| black_box(results(format, &[(&call, &outcome)]).to_string().len()))
}

fn timed(mut work: impl FnMut() -> usize) -> Times {
    let mut times = Times::default();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        work();
        times.since(start);
    }
    times
}
