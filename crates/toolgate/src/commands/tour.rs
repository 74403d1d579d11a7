//! `toolgate tour`: what `make tour` plays.

use std::{fs, path::Path, process::ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Parser};
use serde_json::Value;
use store::Filter;
use tempfile::TempDir;
use toolgate::CallId;

use crate::{
    cli::{Cli, Global},
    commands, context,
    output::{self, Colour},
    visible::visible,
};

const REFUSED: &str = r#"{"path":"../secret.txt"}"#;
const REFUSED_CALL: &str = r#"{"tool":"read","arguments":{"path":"../secret.txt"}}"#;
const WRITE: &str = r#"{"path":"notes.txt","content":"Ada\nCharles\n"}"#;
const EDIT: &str = r#"{"path":"notes.txt","oldText":"Charles","newText":"Grace"}"#;
const READ: &str = r#"{"path":"notes.txt"}"#;

/// Commands that work in a folder; the tour has its own.
const IN_WORKSPACE: &[&str] = &["call", "check", "undo"];

const NEXT: &[(&str, &str)] = &[
    ("toolgate tools read", "everything about one tool"),
    ("toolgate doctor", "whether this machine has what it needs"),
    (r#"toolgate call ls '{"path":"."}'"#, "the same in the folder you are in"),
    ("toolgate help", "all commands"),
    ("docs/ARCHITECTURE.md", "how a call goes through the gate, file by file"),
];

/// Play a short guided tour in a folder of its own.
#[derive(Debug, Args)]
pub(crate) struct Tour {}

impl Tour {
    pub(crate) async fn run(self) -> Result<ExitCode> {
        let folder = TempDir::with_prefix("toolgate-tour-").context("cannot make a folder")?;
        output::line(output::bold("Toolgate: every tool call passes one gate."));
        let stage = Stage::new(folder.path())?;
        let shown = folder.path().display();
        output::line(format_args!("This tour works in {shown}, and removes it at the end."));
        let played = stage.play().await;
        folder.close().context("cannot remove the folder of the tour")?;
        played?;
        output::line(format_args!("\n{}", output::bold("What next")));
        for (command, about) in NEXT {
            output::line(format_args!("  {command:<34} {about}"));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// What a step must end with.
#[derive(Debug, Clone, Copy)]
enum Ends {
    Well,
    Refused,
}

/// The folder everything happens in.
struct Stage {
    global: Global,
    workspace: String,
}

impl Stage {
    fn new(folder: &Path) -> Result<Self> {
        let (config, workspace) = (folder.join("toolgate.toml"), folder.join("workspace"));
        // An empty file: the tour is the same whatever this machine's configuration says.
        fs::write(&config, "").context("cannot write the configuration of the tour")?;
        fs::create_dir(&workspace).context("cannot make the workspace of the tour")?;
        let workspace = workspace.display().to_string();
        let global = Global { config: Some(config), data: Some(folder.join("data")) };
        Ok(Self { global, workspace })
    }

    async fn play(&self) -> Result<()> {
        use Ends::{Refused, Well};
        self.step("These are the tools, and what each can do at most.", &["tools"], Well).await?;
        let time = r#"{"timezone":"Europe/Paris"}"#;
        let about = "A call gives one outcome, in the same form wherever it comes from.";
        self.step(about, &["call", "get_current_time", time], Well).await?;
        self.step("This one changes a file.", &["call", "write", WRITE], Well).await?;
        let about = "Nothing leaves the workspace: this call is refused.";
        self.step(about, &["call", "read", REFUSED], Refused).await?;
        let about = "Ask why, and run nothing.";
        self.step(about, &["check", "call", REFUSED_CALL], Well).await?;
        let about = "Files that make other programs run something are protected.";
        self.step(about, &["check", "path", "--write", ".git/hooks/pre-commit"], Well).await?;
        self.step("Refusals are recorded too.", &["history", "--status", "error"], Well).await?;
        self.edit_and_undo().await?;
        let about = "The journal is a chain of hashes: a changed record would be found.";
        self.step(about, &["audit", "verify"], Well).await
    }

    async fn edit_and_undo(&self) -> Result<()> {
        use Ends::Well;
        self.step("An edit says what it changed.", &["call", "edit", EDIT], Well).await?;
        let (call, result) = self.last("edit")?;
        show_diff(result.get("diff").and_then(Value::as_str).unwrap_or_default());
        let about = "Every change of files can be taken back.";
        self.step(about, &["undo", &call.to_string()], Well).await?;
        self.step("So the file is as it was.", &["call", "read", READ], Well).await?;
        self.step("And all of it is in the history.", &["history"], Well).await
    }

    /// Shows a command and runs it, as if it had been typed.
    async fn step(&self, about: &str, words: &[&str], ends: Ends) -> Result<()> {
        output::line(format_args!("\n{}", output::bold(about)));
        output::line(output::dim(&format!("$ toolgate {}", typed(words))));
        let code = Box::pin(commands::run(self.parse(words)?)).await?;
        let expected = match ends {
            Ends::Well => ExitCode::SUCCESS,
            Ends::Refused => ExitCode::FAILURE,
        };
        ensure!(code == expected, "the tour stops: `{}` ended unexpectedly", typed(words));
        Ok(())
    }

    fn parse(&self, words: &[&str]) -> Result<Cli> {
        let in_workspace = words.first().is_some_and(|first| IN_WORKSPACE.contains(first));
        let more: &[&str] = if in_workspace { &["--workspace", &self.workspace] } else { &[] };
        let all = std::iter::once(&"toolgate").chain(words).chain(more);
        let mut cli = Cli::try_parse_from(all)?;
        cli.global = self.global.clone();
        Ok(cli)
    }

    /// The last call of a tool, and its result.
    fn last(&self, tool: &str) -> Result<(CallId, Value)> {
        let filter = Filter { tool: Some(tool.to_owned()), limit: 1, ..Filter::default() };
        let Some(entry) = context::journal(&self.global)?.entries(&filter)?.pop() else {
            bail!("the tour stops: the call of `{tool}` is not in the journal");
        };
        Ok((entry.id, entry.output))
    }
}

/// The words as a shell takes them.
fn typed(words: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let quoted = words
        .iter()
        .map(|word| if word.chars().all(plain) { (*word).to_owned() } else { format!("'{word}'") });
    quoted.collect::<Vec<_>>().join(" ")
}

fn show_diff(diff: &str) {
    for line in diff.lines() {
        let shown = visible(line);
        output::line(match line.chars().next() {
            Some('+') => output::coloured(&shown, Colour::Green),
            Some('-') => output::coloured(&shown, Colour::Red),
            _ => shown,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::typed;

    #[test]
    fn a_step_is_shown_as_a_shell_takes_it() {
        assert_eq!(typed(&["call", "read", r#"{"path":"a"}"#]), r#"call read '{"path":"a"}'"#);
        assert_eq!(typed(&["check", "path", "--write", ".git/x"]), "check path --write .git/x");
    }
}
