//! One file per command.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod bench;
pub(crate) mod call;
pub(crate) mod chat;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod doctor;
pub(crate) mod emergency;
pub(crate) mod history;
pub(crate) mod hook;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod permissions;
pub(crate) mod policy;
pub(crate) mod run;
pub(crate) mod serve;
pub(crate) mod sessions;
pub(crate) mod tokens;
pub(crate) mod tools;
pub(crate) mod tour;
pub(crate) mod undo;
pub(crate) mod users;

use std::process::ExitCode;

use anyhow::Result;

use crate::{
    cli::{Cli, Command},
    context,
};

/// Runs one command.
#[expect(clippy::cognitive_complexity, reason = "a flat list with a line for each")]
pub(crate) async fn run(cli: Cli) -> Result<ExitCode> {
    let Cli { global, command } = cli;
    context::use_clock_of(&global);
    match command {
        Command::Call(command) => command.run(&global).await,
        Command::Run(command) => command.run(&global).await,
        Command::Serve(command) => command.run(&global).await,
        Command::Mcp(command) => command.run(&global).await,
        Command::Connect(command) => command.run(&global).await,
        Command::Hook(command) => command.run(&global).await,
        Command::Agents(command) => command.run(&global).await,
        Command::Sessions(command) => command.run(&global).await,
        Command::Users(command) => command.run(&global).await,
        Command::Tokens(command) => command.run(&global).await,
        Command::Tools(command) => command.run(&global),
        Command::Chat(command) => command.run(&global).await,
        Command::Check(command) => command.run(&global).await,
        Command::Approvals(command) => command.run(&global).await,
        Command::Permissions(command) => command.run(&global).await,
        Command::Emergency(command) => command.run(&global).await,
        Command::Policy(command) => command.run(&global).await,
        Command::History(command) => command.run(&global),
        Command::Undo(command) => command.run(&global).await,
        Command::Audit(command) => command.run(&global),
        Command::Doctor(command) => command.run(&global).await,
        Command::Config(command) => command.run(&global),
        Command::Bench(command) => command.run().await,
        Command::Completions(command) => Ok(command.run()),
        Command::Man(command) => command.run(),
        Command::Tour(command) => command.run().await,
    }
}

/// Who reads the output.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reader {
    Person,
    Program,
}

impl From<bool> for Reader {
    fn from(json: bool) -> Self {
        if json { Self::Program } else { Self::Person }
    }
}
