//! The `toolgate` command.

mod call_name;
mod changes;
mod cli;
mod commands;
mod context;
mod help;
mod log;
mod output;
mod question;
mod terminal;
mod tty;
mod visible;

use std::{io::IsTerminal as _, process::ExitCode};

use clap::FromArgMatches as _;

use crate::{
    cli::{Cli, Command},
    output::Log,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Before anything else: a command is started by this very program, executed again.
    toolgate::init();
    if std::env::args_os().len() == 1 {
        let help = help::command().render_help();
        if std::io::stdin().is_terminal() {
            output::line(help);
            return ExitCode::SUCCESS;
        }
        // A program that drops our arguments must not take this for a yes.
        output::note(help);
        return ExitCode::from(2);
    }
    let matches = help::command().get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let log = if let Command::Serve(serve) = &cli.command {
        Log::Server(serve.log)
    } else {
        Log::Command
    };
    output::start_logging(log);
    if matches!(cli.command, Command::Hook(_)) {
        block_on_panic();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let result = runtime.map_err(anyhow::Error::from).and_then(|runtime| {
        let result = runtime.block_on(commands::run(cli));
        // A tool that ignores being stopped must not keep the command from ending.
        runtime.shutdown_timeout(std::time::Duration::from_millis(200));
        result
    });
    log::end();
    result.unwrap_or_else(|error| {
        output::error(&error);
        ExitCode::from(2)
    })
}

/// Whoever asks takes every exit code but 2 for a yes, and that of a panic is another one.
#[expect(clippy::exit, reason = "a panic in any thread must end the process, and with this code")]
fn block_on_panic() {
    std::panic::set_hook(Box::new(|panic| {
        output::last_words(panic);
        std::process::exit(2);
    }));
}
