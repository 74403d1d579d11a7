//! `toolgate completions`.

use std::process::ExitCode;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::{help::command, output};

/// Print the completions for a shell.
///
/// For bash: `toolgate completions bash > ~/.local/share/bash-completion/completions/toolgate`.
#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell.
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self) -> ExitCode {
        let mut script = Vec::new();
        generate(self.shell, &mut command(), "toolgate", &mut script);
        output::bytes(&script);
        ExitCode::SUCCESS
    }
}
