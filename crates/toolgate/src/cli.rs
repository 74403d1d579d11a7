//! What the command line accepts.

use std::{path::PathBuf, time::Duration};

use clap::{Args, Parser, Subcommand};

use crate::commands::{
    agents::Agents, approvals::Approvals, audit::Audit, bench::Bench, call::CallTool, chat::Chat,
    check::Check, completions::Completions, config::ConfigCommand, connect::Connect,
    doctor::Doctor, emergency::Emergency, history::History, hook::HookCommand, man::Man,
    mcp::McpCommand, permissions::Permissions, policy::Policy, run::RunProgram, serve::Serve,
    sessions::Sessions, tokens::Tokens, tools::Tools, tour::Tour, undo::Undo, users::Users,
};

/// The tool runtime for AI agents: every tool call passes one gate.
#[derive(Debug, Parser)]
#[command(name = "toolgate", version, arg_required_else_help = true, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What every command takes.
#[derive(Debug, Clone, Args)]
pub(crate) struct Global {
    /// Configuration file; by default `toolgate/toolgate.toml`, or `.json5`, in the user's configuration
    /// folder.
    #[arg(long, global = true, value_name = "FILE", help_heading = "Everywhere")]
    pub(crate) config: Option<PathBuf>,
    /// Folder for the journal, undo data and artifacts; by default in the user's data folder.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Everywhere")]
    pub(crate) data: Option<PathBuf>,
}

/// On whose behalf a command acts.
#[derive(Debug, Clone, Args)]
pub(crate) struct Identity {
    /// Act as this agent.
    #[arg(long, value_name = "A", default_value = "main")]
    pub(crate) agent: String,
    /// Act for this user instead of the owner.
    #[arg(long, value_name = "U")]
    pub(crate) user: Option<String>,
    /// The conversation the calls belong to.
    #[arg(long, value_name = "S", default_value = "main")]
    pub(crate) session: String,
    /// Who wrote the message that led to this, if it was not the user; for rules of `tools.by_sender`.
    #[arg(long, value_name = "S")]
    pub(crate) sender: Option<String>,
    /// The channel the message came by; for rules of `tools.by_channel`.
    #[arg(long, value_name = "C")]
    pub(crate) channel: Option<String>,
    /// The folder file tools work in; by default the agent's own, else the current one.
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// Work in `/` or in the home folder, which is refused otherwise.
    #[arg(long)]
    pub(crate) allow_broad_workspace: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Serve(Serve),
    Mcp(McpCommand),
    Connect(Connect),
    Hook(HookCommand),
    Chat(Chat),
    Call(CallTool),
    Run(RunProgram),
    Tools(Tools),
    Check(Check),
    Approvals(Approvals),
    Permissions(Permissions),
    Agents(Agents),
    Sessions(Sessions),
    Users(Users),
    Tokens(Tokens),
    Emergency(Emergency),
    Policy(Policy),
    History(History),
    Undo(Undo),
    Audit(Audit),
    Config(ConfigCommand),
    Doctor(Doctor),
    Bench(Bench),
    Completions(Completions),
    Man(Man),
    Tour(Tour),
}

/// Reads `30s`, `5m`, `1h`, `2d`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    config::parse_duration(text)
}
