//! `toolgate completions`.

use std::{io::Write, process::ExitCode};

use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};

use crate::{cli::Cli, output};

/// Print the completions for a shell.
///
/// For bash: `toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let mut script = Vec::new();
        generate(self.shell, &mut Cli::command(), "toolgate", &mut script);
        output::stream().write_all(&script)?;
        Ok(ExitCode::SUCCESS)
    }
}
