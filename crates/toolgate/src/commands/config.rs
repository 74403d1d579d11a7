//! `toolgate config`.

use std::{path::PathBuf, process::ExitCode};

use anyhow::Result;
use clap::{Args, Subcommand};
use config::{ConfigProblem, Loaded};
use serde::Serialize;
use serde_json::json;
use toolgate::BuildError;

use crate::{cli::Global, context, output, visible::visible};

/// Check the configuration file without starting anything.
#[derive(Debug, Args)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Check a file: its keys and values, and whether every tool, user, agent and provider it names exists.
    ///
    /// Exit code 1 if Toolgate would not start with it. A server that runs keeps its old configuration then.
    #[command(
        after_help = "Examples:\n  toolgate config check\n  toolgate config check ./new.toml --json"
    )]
    Check {
        /// The file; by default the one that every command reads.
        file: Option<PathBuf>,
        /// Print the problems as JSON.
        #[arg(long)]
        json: bool,
    },
}

/// One line of a file, for programs.
#[derive(Debug, Serialize)]
struct Reported {
    level: &'static str,
    file: String,
    line: u32,
    column: u32,
    key: String,
    message: String,
}

impl ConfigCommand {
    pub(crate) fn run(self, global: &Global) -> Result<ExitCode> {
        let Action::Check { file, json } = self.action;
        let Some(path) = file.or_else(|| context::configuration_file(global)) else {
            if json {
                output::json(&json!({"ok": true, "file": null, "problems": []}))?;
            } else {
                output::line("no configuration file; the defaults apply");
            }
            return Ok(ExitCode::SUCCESS);
        };
        let (problems, warnings) = problems(global, &path)?;
        let ok = problems.is_empty();
        if json {
            let reported: Vec<_> = problems
                .iter()
                .map(|problem| reported("error", problem))
                .chain(warnings.iter().map(|warning| reported("warning", warning)))
                .collect();
            output::json(&json!({"ok": ok, "file": path, "problems": reported}))?;
        } else {
            for problem in &problems {
                output::line(format_args!("error: {}", visible(&problem.to_string())));
            }
            for warning in &warnings {
                output::line(format_args!("warning: {}", visible(&warning.to_string())));
            }
            if ok {
                output::line(format_args!("{}: ok", visible(&path.display().to_string())));
            }
        }
        Ok(ExitCode::from(u8::from(!ok)))
    }
}

/// The errors and the warnings of a file, in its order.
fn problems(
    global: &Global,
    path: &std::path::Path,
) -> Result<(Vec<ConfigProblem>, Vec<ConfigProblem>)> {
    let Loaded { config, warnings } = match config::load_with_warnings(path) {
        Ok(loaded) => loaded,
        Err(error) => return Ok((error.problems().to_vec(), Vec::new())),
    };
    let mut problems = Vec::new();
    match toolgate::check_configuration(&config, &context::data(global)?) {
        Ok(()) => {}
        Err(BuildError::Config(error)) => problems.extend_from_slice(error.problems()),
        Err(error) => return Err(error.into()),
    }
    if let Err(error) = config::resolve_secrets(&config, config::environment) {
        problems.extend_from_slice(error.problems());
    }
    Ok((problems, warnings))
}

fn reported(level: &'static str, problem: &ConfigProblem) -> Reported {
    let ConfigProblem { file, line, column, key, message } = problem;
    let (file, key, message) = (file.to_string(), key.clone(), message.clone());
    Reported { level, file, line: *line, column: *column, key, message }
}
