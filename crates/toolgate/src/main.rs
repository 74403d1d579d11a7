//! The `toolgate` command.

mod cli;
mod commands;
mod context;
mod output;
mod terminal;

use std::process::ExitCode;

use clap::Parser;

use crate::cli::Cli;

fn main() -> ExitCode {
    let cli = Cli::parse();
    output::start_logging();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(commands::run(cli));
        // A tool that ignores being stopped must not keep the command from ending.
        runtime.shutdown_timeout(std::time::Duration::from_millis(200));
        result
    });
    result.unwrap_or_else(|error| {
        output::error(&error);
        ExitCode::from(2)
    })
}
