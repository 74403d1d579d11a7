//! What one check found.

use serde::Serialize;

use crate::{
    output::{self, Colour},
    visible::visible,
};

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Ok,
    Warning,
    Problem,
}

/// What one check found.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    name: &'static str,
    #[serde(rename = "status")]
    pub(super) level: Level,
    message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

impl Finding {
    fn new(level: Level, name: &'static str, message: impl Into<String>) -> Self {
        Self { name, level, message: message.into(), fix: None }
    }

    /// Says what to do about it.
    pub(super) fn fix(self, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..self }
    }

    /// In one line, for people.
    pub(super) fn shown(&self) -> String {
        let Self { name, level, message, fix } = self;
        let (word, colour) = match level {
            Level::Ok => ("ok", Colour::Green),
            Level::Warning => ("warning", Colour::Yellow),
            Level::Problem => ("problem", Colour::Red),
        };
        let word = output::coloured(&format!("{word:<8}"), colour);
        let fix = fix.as_ref().map(|fix| format!("; {}", visible(fix))).unwrap_or_default();
        format!("{word} {name:<14} {}{fix}", visible(message))
    }
}

pub(super) fn ok(name: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Ok, name, message)
}

pub(super) fn warning(name: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Warning, name, message)
}

pub(super) fn problem(name: &'static str, message: impl Into<String>) -> Finding {
    Finding::new(Level::Problem, name, message)
}
