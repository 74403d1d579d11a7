//! What a `tools/call` over HTTP costs the server: Toolgate with everything on, a bare rmcp server, and `FastMCP`.

mod client;
mod echo;
mod measure;
mod message;
mod output;
mod owned;
mod report;
mod servers;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Result, bail};
use clap::{Args, Parser, Subcommand};
use serde_json::{Map, Value};
use tokio::{
    runtime::Builder,
    signal::unix::{SignalKind, signal},
};

use crate::{echo::Echo, message::Revision, report::Report};

/// The same one as Toolgate's, where the bare server is built like it.
#[cfg(feature = "alike")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A tool of Toolgate's that does next to nothing, so that what surrounds it is measured.
const TOOL: &str = "get_current_time";
/// What it answers, for when Toolgate is not there to ask.
const ANSWER: &str = "2026-11-17T14:49:35+00:00";

/// Measure the CPU time a `tools/call` over HTTP costs a server.
///
/// Exit code 0 if Toolgate needs at most `--limit` times what rmcp needs, 1 if more, 2 if nothing was found out.
#[derive(Parser, Debug)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand, Debug)]
enum Command {
    Echo(Echo),
}

#[derive(Args, Debug)]
struct Options {
    /// The release build of Toolgate to measure.
    #[arg(long, value_name = "PROGRAM")]
    toolgate: Option<PathBuf>,
    /// This program again, built like Toolgate (`--profile alike --features alike`), to measure its bare server too.
    #[arg(long, value_name = "PROGRAM")]
    rmcp_alike: Option<PathBuf>,
    /// The Python to measure `FastMCP` with; it must have what `requirements.txt` names.
    #[arg(long, value_name = "PYTHON")]
    fastmcp: Option<PathBuf>,
    /// The tool of Toolgate's to call.
    #[arg(long, default_value = TOOL)]
    tool: String,
    /// Its arguments.
    #[arg(long, value_name = "JSON", default_value = r#"{"timezone":"UTC"}"#, value_parser = object)]
    args: Value,
    /// The revision of MCP to speak.
    #[arg(long, value_enum, default_value_t = Revision::Stateless)]
    revision: Revision,
    /// How often each server is measured, in turn.
    #[arg(long, default_value = "5", value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Calls a round; `FastMCP`, which is slow, gets a twentieth.
    #[arg(long, default_value = "20000", value_parser = clap::value_parser!(u32).range(1000..))]
    calls: u32,
    /// Connections, each with one call at a time; Toolgate runs at most 10 calls of an agent at once.
    #[arg(long, default_value = "8", value_parser = clap::value_parser!(u32).range(1..=10))]
    connections: u32,
    /// How many times as much as rmcp Toolgate may need.
    #[arg(long, default_value = "1.5")]
    limit: f64,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

fn object(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str::<Map<_, _>>(text).map(Value::Object)
}

fn main() -> ExitCode {
    let Cli { command, options } = Cli::parse();
    let result = match command {
        Some(Command::Echo(echo)) => serve(echo),
        None => compare(&options),
    };
    result.unwrap_or_else(|error| {
        output::note(format_args!("error: {error:#}"));
        ExitCode::from(2)
    })
}

/// On the same runtime as Toolgate.
fn serve(echo: Echo) -> Result<ExitCode> {
    Builder::new_multi_thread().enable_all().build()?.block_on(echo.run())?;
    Ok(ExitCode::SUCCESS)
}

/// On one thread: the client must leave the other cores to the server.
fn compare(options: &Options) -> Result<ExitCode> {
    let report = Builder::new_current_thread().enable_all().build()?.block_on(async {
        tokio::select! {
            report = servers::compare(options) => report,
            // What was started ends with the future that owns it.
            signal = stopped() => signal,
        }
    })?;
    if options.json {
        report.print_json()?;
    } else {
        report.print_table();
    }
    Ok(if report.is_within() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns, with an error, as soon as somebody wants this to end.
async fn stopped() -> Result<Report> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
    bail!("stopped before the end")
}
