//! What the person types.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anyhow::{Context as _, Result};

/// What else there is.
pub(super) const HELP: &str = "\
/new          begin another session
/status       tokens, cost and calls of this one
/model NAME   use another model from now on: provider/model
/quit         end; so does Ctrl-D
Ctrl-C        stop the agent
Everything else goes to the agent.";

/// The longest message.
const MAX_LINE: u64 = 1024 * 1024;

/// What a line asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Nothing,
    End,
    Help,
    New,
    Status,
    Model(String),
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
            _ => Self::Message(line.to_owned()),
        }
    }
}

/// Lines, from a terminal or not.
#[derive(Debug)]
pub(super) struct Lines {
    terminal: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self { terminal: io::stdin().is_terminal() }
    }

    pub(super) const fn is_terminal(&self) -> bool {
        self.terminal
    }

    /// Waits for the next line, where it holds up nothing.
    pub(super) async fn next(&self) -> Result<Asked> {
        let terminal = self.terminal;
        let read = tokio::task::spawn_blocking(move || {
            if terminal {
                let mut out = io::stdout();
                out.write_all(b"\n> ").and_then(|()| out.flush())?;
            }
            let mut line = String::new();
            let limited = io::Read::take(io::stdin().lock(), MAX_LINE);
            let count = io::BufReader::with_capacity(1, limited).read_line(&mut line)?;
            Ok::<_, io::Error>((count > 0).then_some(line))
        });
        let line = tokio::select! {
            line = read => line?.context("cannot read what was typed")?,
            // Nobody is at work, so there is nothing to stop but this.
            _ = tokio::signal::ctrl_c() => None,
        };
        Ok(line.map_or(Asked::End, |line| Asked::read(&line)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_message_unless_it_is_one_of_ours() {
        for (line, expected) in [
            ("", Asked::Nothing),
            ("  \n", Asked::Nothing),
            ("/help\n", Asked::Help),
            ("/quit", Asked::End),
            ("/model ollama/llama", Asked::Model("ollama/llama".into())),
            ("/model", Asked::Message("/model".into())),
            ("/read {\"path\":\"a\"}", Asked::Message("/read {\"path\":\"a\"}".into())),
            ("what time is it\n", Asked::Message("what time is it".into())),
        ] {
            assert_eq!(Asked::read(line), expected, "{line}");
        }
    }
}
