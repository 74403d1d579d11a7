//! What the gate and the registry cost.

use std::{path::Path, sync::Arc, time::Instant};

use anyhow::{Result, ensure};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::Journal;
use toolgate::{
    AnyTool, BoxFuture, Caller, Gate, Plan, Prepared, Tool, ToolContext, ToolError, ToolInfo,
    ToolOutput, ToolResult, builtin,
};

use super::{
    Row,
    measure::{Times, progress},
};

/// Do nothing.
#[derive(Deserialize, JsonSchema)]
struct Noop {}

impl Tool for Noop {
    const NAME: &'static str = "noop";

    async fn run(self, _: &ToolContext) -> ToolResult {
        Ok(ToolOutput::text(""))
    }
}

const WARM_UP: u64 = 2_000;
const ROUNDS: u64 = 20_000;

/// A call through all stages, without and with the journal.
pub(super) async fn noop() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let bare = gate(folder.path(), Some(Journal::null()), 0)?;
    let noop = Row::new("gate.noop", calls("gate.noop", &bare).await?);
    let recorded = gate(folder.path(), None, 0)?;
    let journal = Row::new("gate.noop.journal", calls("gate.noop.journal", &recorded).await?);
    let journal = journal.against("gate.noop", &noop);
    Ok(vec![noop, journal])
}

/// The same call among ten and among ten thousand tools, in turn.
pub(super) async fn many_tools() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let few = gate(folder.path(), Some(Journal::null()), 10)?;
    let many = gate(folder.path(), Some(Journal::null()), 10_000)?;
    let (mut few_times, mut many_times) = (Times::default(), Times::default());
    let bar = progress("gate.tools_10000", WARM_UP + ROUNDS);
    for round in 0..WARM_UP + ROUNDS {
        let (few, many) = (one(&few, round).await?, one(&many, round).await?);
        if round >= WARM_UP {
            few_times.add(few);
            many_times.add(many);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let few = Row::new("gate.tools_10", few_times);
    let many = Row::new("gate.tools_10000", many_times).against("gate.tools_10", &few);
    Ok(vec![few, many])
}

/// Making and registering every built-in tool.
pub(super) fn builtin_registry() -> Result<Row> {
    let folder = tempfile::tempdir()?;
    let gate = gate(folder.path(), Some(Journal::null()), 0)?;
    let mut times = Times::default();
    for _ in 0..200 {
        let start = Instant::now();
        let tools = builtin();
        let names: Vec<_> = tools.iter().map(|tool| tool.info().name.clone()).collect();
        gate.registry().add(tools)?;
        times.since(start);
        for name in names {
            gate.registry().remove(&name);
        }
    }
    Ok(Row::new("registry.builtin", times))
}

async fn calls(name: &'static str, gate: &Gate) -> Result<Times> {
    let mut times = Times::default();
    let bar = progress(name, WARM_UP + ROUNDS);
    for round in 0..WARM_UP + ROUNDS {
        let time = one(gate, round).await?;
        if round >= WARM_UP {
            times.add(time);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(times)
}

async fn one(gate: &Gate, round: u64) -> Result<std::time::Duration> {
    let caller = Caller::owner("bench");
    let args = json!({});
    let start = Instant::now();
    let outcome = gate.call(&caller, "noop", args).await;
    let time = start.elapsed();
    ensure!(outcome.status() == "success", "call {round} failed: {outcome:?}");
    Ok(time)
}

pub(super) fn gate(folder: &Path, journal: Option<Journal>, others: usize) -> Result<Gate> {
    let builder = Gate::builder().data(folder.join("data")).workspace(folder).tool::<Noop>();
    let builder = builder.tools((0..others).map(other));
    let builder = match journal {
        Some(journal) => builder.journal(journal),
        None => builder,
    };
    Ok(builder.build()?)
}

/// One of many tools that are only there.
fn other(number: usize) -> Arc<dyn AnyTool> {
    let parameters = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    Arc::new(Other(Arc::new(ToolInfo::new(&format!("other_{number}"), "Be there.", parameters))))
}

struct Other(Arc<ToolInfo>);

impl AnyTool for Other {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }
    fn prepare(&self, _: Value) -> Result<Box<dyn Prepared>, ToolError> {
        Ok(Box::new(Idle))
    }
}

struct Idle;

impl Prepared for Idle {
    fn plan(&self) -> Plan {
        Plan::default()
    }
    fn run(self: Box<Self>, _: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(std::future::ready(Ok(ToolOutput::text(""))))
    }
}
