//! `toolgate hook`.

mod as_written;
mod claude_code;

use std::{
    io::{self, Read as _},
    path::PathBuf,
    process::ExitCode,
};

use anyhow::{Context as _, Result, bail};
use clap::{Args, Subcommand};

use super::connect;
use crate::{cli::Global, context, output};

/// So much is read of a call; what is larger is refused.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Answer another agent that asks before it uses a tool of its own.
#[derive(Debug, Args)]
pub(crate) struct HookCommand {
    #[command(subcommand)]
    client: HookClient,
}

#[derive(Debug, Subcommand)]
enum HookClient {
    /// As a `PreToolUse` hook of Claude Code: reads the call on standard input, and says `allow`, `ask` or
    /// `deny` by your policy. Whatever goes wrong blocks the call (exit code 2).
    ///
    /// Claude Code runs its tools itself, outside the sandbox: commands are decided as on the host.
    ClaudeCode(Hook),
}

#[derive(Debug, Args)]
struct Hook {
    /// Print what belongs into the settings of Claude Code, and read nothing.
    #[arg(long)]
    print: bool,
    /// Decide as for this agent.
    #[arg(long, value_name = "A", default_value = "main")]
    agent: String,
    /// The folder file tools may work in; by default the project of Claude Code.
    #[arg(long, value_name = "DIR")]
    workspace: Option<PathBuf>,
}

impl HookCommand {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        let HookClient::ClaudeCode(Hook { print, agent, workspace }) = self.client;
        if print {
            let agent = (agent != "main").then_some(agent);
            output::part(connect::hook_snippet(global, agent, workspace)?);
            return Ok(ExitCode::SUCCESS);
        }
        let data = context::data(global)?;
        if !data.is_dir() {
            bail!(
                "there is no data folder `{}`; `toolgate connect claude-code --hook` makes it",
                data.display()
            );
        }
        let answer = claude_code::answer(global, &agent, workspace, &input()?).await?;
        output::line(answer);
        Ok(ExitCode::SUCCESS)
    }
}

fn input() -> Result<String> {
    let mut bytes = Vec::new();
    let read = io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.context("cannot read the call from standard input")?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("the call is larger than {MAX_BYTES} bytes, so it is not let through");
    }
    String::from_utf8(bytes).context("the call is not UTF-8")
}
