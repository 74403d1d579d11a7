//! Starts what is measured, and measures it in turn.

use std::{
    env,
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::json;
use tempfile::TempDir;

use crate::{
    ANSWER, Options,
    measure::{Cost, Load, Round, SLICES, Subject, warm_up},
    message::{Call, Endpoint},
    output,
    owned::Owned,
    report::{RMCP_ALIKE, Report, Row},
};

/// `FastMCP` gets so many times fewer calls.
const SLOWER: u32 = 20;

/// Starts the servers, measures each of them in every round, and ends them.
pub(crate) async fn compare(options: &Options) -> Result<Report> {
    let scratch = TempDir::with_prefix("mcp-bench-")?;
    let subjects = start(options, &scratch).await?;
    let mut rows = Vec::new();
    for subject in &subjects {
        let (_, answer_bytes) = subject.probe().await?;
        rows.push(Row { name: subject.name, load: subject.load, answer_bytes, costs: Vec::new() });
    }
    for round in 1..=options.rounds {
        for (cost, row) in measure_round(&subjects).await?.into_iter().zip(&mut rows) {
            output::note(format_args!("round {round}: {} {:.1?} a call", row.name, cost.cpu));
            row.costs.push(cost);
        }
    }
    drop(subjects);
    if let Some(program) = &options.toolgate {
        check_journal(options, program, &scratch)?;
    }
    Ok(Report::new(options, rows))
}

/// All servers that were asked for.
async fn start(options: &Options, scratch: &TempDir) -> Result<Vec<Subject>> {
    let toolgate = match &options.toolgate {
        Some(program) => Some(toolgate(options, program, scratch).await?),
        None => None,
    };
    // The others say what Toolgate said, so that all answers have about the same size.
    let answer = match &toolgate {
        Some(toolgate) => toolgate.probe().await?.0,
        None => ANSWER.to_owned(),
    };
    let bare = ("rmcp", env::current_exe()?);
    let mut subjects = vec![rmcp(options, bare, &answer, scratch).await?];
    if let Some(program) = &options.rmcp_alike {
        let alike = (RMCP_ALIKE, found(program)?);
        subjects.push(rmcp(options, alike, &answer, scratch).await?);
    }
    subjects.extend(toolgate);
    if let Some(python) = &options.fastmcp {
        subjects.push(fastmcp(options, python, &answer, scratch).await?);
    }
    Ok(subjects)
}

/// One cost for each server.
async fn measure_round(subjects: &[Subject]) -> Result<Vec<Cost>> {
    let mut rounds = Vec::new();
    for subject in subjects {
        rounds.push(subject.warm().await?);
    }
    for _ in 0..SLICES {
        for round in &mut rounds {
            round.slice().await?;
        }
        // So that none is always the one after the slowest. Slices are even in number: the order stays.
        rounds.reverse();
    }
    Ok(rounds.into_iter().map(Round::cost).collect())
}

/// The bare server, from this program or one that was built otherwise.
async fn rmcp(
    options: &Options,
    (name, program): (&'static str, PathBuf),
    answer: &str,
    scratch: &TempDir,
) -> Result<Subject> {
    let folder = folder(scratch, name)?;
    let args = ["echo", "--tool", &options.tool, "--answer", answer];
    let mut server = Owned::start(&program, &args, &folder)?;
    let endpoint = Endpoint { address: server.said("http://").await?, token: None };
    let call = Call { text: Some(answer.to_owned()), ..call(options) };
    Ok(Subject { name, server, endpoint, call, load: load(options) })
}

/// With nothing configured: every stage and the journal are on.
async fn toolgate(options: &Options, program: &Path, scratch: &TempDir) -> Result<Subject> {
    let folder = folder(scratch, "toolgate")?;
    let program = found(program)?;
    let mut args = place(&folder)?;
    args.extend(["serve", "--listen", "127.0.0.1:0"].map(OsString::from));
    let mut server = Owned::start(&program, &args, &folder)?;
    let address = server.said("listens on http://").await?;
    let token = Some(server.said("  Token ").await?);
    let endpoint = Endpoint { address, token };
    Ok(Subject { name: "toolgate", server, endpoint, call: call(options), load: load(options) })
}

/// Its tools declare what they take, so it gets the text to say with the call.
async fn fastmcp(
    options: &Options,
    python: &Path,
    answer: &str,
    scratch: &TempDir,
) -> Result<Subject> {
    let folder = folder(scratch, "fastmcp")?;
    let script = folder.join("fastmcp_echo.py");
    fs::write(&script, include_str!("../fastmcp_echo.py"))?;
    // Not resolved: a Python knows by the name it is called by which packages it has.
    let mut server = Owned::start(&std::path::absolute(python)?, &[&script], &folder)?;
    let endpoint = Endpoint { address: server.said("http://").await?, token: None };
    let text = Some(answer.to_owned());
    let call =
        Call { tool: "echo".to_owned(), args: json!({"text": answer}), text, ..call(options) };
    let load = load(options);
    let load = Load { calls: load.calls / SLOWER / SLICES * SLICES, ..load };
    Ok(Subject { name: "fastmcp", server, endpoint, call, load })
}

/// Every call must stand in the journal, or it was not on.
fn check_journal(options: &Options, program: &Path, scratch: &TempDir) -> Result<()> {
    #[derive(Deserialize)]
    struct Verified {
        entries: u64,
        ok: bool,
    }
    #[expect(clippy::disallowed_methods, reason = "what was measured, not a command")]
    let mut command = Command::new(program);
    command.args(place(&scratch.path().join("toolgate"))?).args(["audit", "verify", "--json"]);
    let output = command.output()?;
    let Verified { entries, ok } =
        serde_json::from_slice(&output.stdout).context("the journal cannot be read")?;
    let calls = u64::from(options.rounds) * u64::from(options.calls + warm_up(options.calls));
    ensure!(ok && entries >= calls, "{calls} calls were made, but the journal has {entries}");
    Ok(())
}

/// Where a program is, from every folder.
fn found(program: &Path) -> Result<PathBuf> {
    let shown = program.display();
    program.canonicalize().with_context(|| format!("there is no program `{shown}`"))
}

/// A fresh place for what Toolgate keeps, and no configuration.
fn place(folder: &Path) -> Result<Vec<OsString>> {
    let config = folder.join("toolgate.toml");
    fs::write(&config, "")?;
    let data = folder.join("data");
    Ok(vec!["--config".into(), config.into(), "--data".into(), data.into()])
}

fn folder(scratch: &TempDir, name: &str) -> Result<PathBuf> {
    let folder = scratch.path().join(name);
    fs::create_dir(&folder)?;
    Ok(folder)
}

fn call(options: &Options) -> Call {
    Call {
        revision: options.revision,
        tool: options.tool.clone(),
        args: options.args.clone(),
        text: None,
    }
}

fn load(options: &Options) -> Load {
    Load { calls: options.calls / SLICES * SLICES, connections: options.connections }
}
