//! `toolgate man`.

use std::{fs, path::PathBuf, process::ExitCode};

use anyhow::{Context as _, Result};
use clap::Args;

use crate::{help::command, output};

/// Print the man pages: `toolgate man | man -l -`, or install them with `--output`.
#[derive(Debug, Args)]
pub(crate) struct Man {
    /// Write one file per command into this folder instead.
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let command = command();
        if let Some(folder) = &self.output {
            let written =
                fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
            written.with_context(|| format!("cannot write into `{}`", folder.display()))?;
        } else {
            output::bytes(&pages(command)?);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The page of the whole, then one for each command that is not hidden.
fn pages(mut command: clap::Command) -> Result<Vec<u8>> {
    command.build();
    let mut pages = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut pages)?;
    for part in command.get_subcommands().filter(|part| !part.is_hide_set()) {
        clap_mangen::Man::new(part.clone()).render(&mut pages)?;
    }
    Ok(pages)
}
