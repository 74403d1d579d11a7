//! What the person types.

use std::{
    io::{self, BufRead as _, IsTerminal as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use anyhow::{Context as _, Result};
use rustyline::{Config, DefaultEditor, error::ReadlineError};

use crate::output;

/// What else there is.
pub(super) const HELP: &str = "\
/new          begin another session
/status       tokens, cost and calls of this one
/model NAME   use another model from now on: provider/model
/undo [CALL]  take back what the last call of this session changed, or what CALL did
/quit         end; so does Ctrl-D
Ctrl-C        stop the agent
Arrow keys move in the line and through earlier ones; Ctrl-R searches them.
Everything else goes to the agent.";

/// Commands, for a hint where one is misspelt.
pub(super) const COMMANDS: [&str; 7] =
    ["/help", "/new", "/status", "/model", "/undo", "/quit", "/exit"];

/// The longest message.
const MAX_LINE: u64 = 1024 * 1024;
/// Earlier lines that are kept.
const MAX_HISTORY: usize = 1_000;
/// The file in the data folder that has them.
const HISTORY: &str = "chat_history";

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Nothing,
    End,
    Help,
    New,
    Status,
    Model(String),
    Undo(Option<String>),
    /// Looks like a command and is none; the word, and the whole line for tools of that name.
    Unknown(String, String),
    Message(String),
}

impl Asked {
    fn read(line: &str) -> Self {
        let line = line.trim();
        match line.split_once(char::is_whitespace).unwrap_or((line, "")) {
            ("", _) => Self::Nothing,
            ("/help", "") => Self::Help,
            ("/new", "") => Self::New,
            ("/status", "") => Self::Status,
            ("/quit" | "/exit", "") => Self::End,
            ("/model", name) if !name.is_empty() => Self::Model(name.trim().to_owned()),
            ("/undo", "") => Self::Undo(None),
            ("/undo", call) => Self::Undo(Some(call.trim().to_owned())),
            (word, _) if is_command(word) => Self::Unknown(word.to_owned(), line.to_owned()),
            _ => Self::Message(line.to_owned()),
        }
    }
}

/// `/word`. A path such as `/etc/hosts` is not one.
fn is_command(word: &str) -> bool {
    let name = word.strip_prefix('/').unwrap_or_default();
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Lines, from a terminal or not.
#[derive(Debug)]
pub(super) struct Lines {
    editor: Option<Arc<Mutex<DefaultEditor>>>,
    history: PathBuf,
}

impl Lines {
    /// With the lines of earlier conversations, if there is a terminal.
    pub(super) fn new(data: &Path) -> Self {
        let history = data.join(HISTORY);
        let editor = io::stdin().is_terminal().then(|| editor(&history)).flatten();
        Self { editor: editor.map(|editor| Arc::new(Mutex::new(editor))), history }
    }

    pub(super) const fn is_terminal(&self) -> bool {
        self.editor.is_some()
    }

    /// Waits for the next line, where it holds up nothing.
    pub(super) async fn next(&self) -> Result<Asked> {
        let (editor, history) = (self.editor.clone(), self.history.clone());
        let read = tokio::task::spawn_blocking(move || match editor {
            Some(editor) => {
                let mut editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
                edited(&mut editor, &history)
            }
            None => plain(),
        });
        let line = tokio::select! {
            line = read => line?.context("cannot read what was typed")?,
            // Nobody is at work, so there is nothing to stop but this.
            _ = tokio::signal::ctrl_c() => None,
        };
        Ok(line.map_or(Asked::End, |line| Asked::read(&line)))
    }
}

fn editor(history: &Path) -> Option<DefaultEditor> {
    let settings = Config::builder().max_history_size(MAX_HISTORY).ok()?.auto_add_history(false);
    let mut editor = DefaultEditor::with_config(settings.build()).ok()?;
    // There is none before the first conversation.
    let _ = editor.load_history(history);
    Some(editor)
}

/// A line that can be edited; `None` at the end.
fn edited(editor: &mut DefaultEditor, history: &Path) -> io::Result<Option<String>> {
    output::line("");
    match editor.readline("> ") {
        Ok(line) => {
            if !line.trim().is_empty() {
                // A line that is not remembered is still said.
                let _ = editor.add_history_entry(line.trim());
                let _ = editor.save_history(history);
            }
            Ok(Some(line))
        }
        Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
        Err(ReadlineError::Io(error)) => Err(error),
        Err(error) => Err(io::Error::other(error)),
    }
}

fn plain() -> io::Result<Option<String>> {
    let mut line = String::new();
    let limited = io::Read::take(io::stdin().lock(), MAX_LINE);
    let count = io::BufReader::with_capacity(1, limited).read_line(&mut line)?;
    Ok((count > 0).then_some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_unless_it_is_one_of_ours() {
        let unknown = |word: &str, line: &str| Asked::Unknown(word.into(), line.into());
        for (line, expected) in [
            ("", Asked::Nothing),
            ("  \n", Asked::Nothing),
            ("/help\n", Asked::Help),
            ("/quit", Asked::End),
            ("/model ollama/llama", Asked::Model("ollama/llama".into())),
            ("/model", unknown("/model", "/model")),
            ("/undo", Asked::Undo(None)),
            ("/undo 01a1", Asked::Undo(Some("01a1".into()))),
            ("/statsu", unknown("/statsu", "/statsu")),
            ("/read {\"path\":\"a\"}", unknown("/read", "/read {\"path\":\"a\"}")),
            ("/etc/hosts: what is that?", Asked::Message("/etc/hosts: what is that?".into())),
            ("/ is the root", Asked::Message("/ is the root".into())),
            ("what time is it\n", Asked::Message("what time is it".into())),
        ] {
            assert_eq!(Asked::read(line), expected, "{line}");
        }
    }
}
