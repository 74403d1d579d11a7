//! What is wrong with a configuration.

use std::{fmt, sync::Arc};

/// One thing wrong with a configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigProblem {
    /// The file, as it was named when it was read.
    pub file: Arc<str>,
    /// The line, counted from 1; 0 if it is about the file as a whole.
    pub line: u32,
    /// The column in characters, counted from 1; 0 if it is about the line as a whole.
    pub column: u32,
    /// The key, or empty.
    pub key: String,
    /// What is wrong and what to do.
    pub message: String,
}

/// `toolgate.toml:3:1: what is wrong`, which editors and terminals make a link of.
impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column, key: _, message } = self;
        match (line, column) {
            (0, _) => write!(f, "{file}: {message}"),
            (_, 0) => write!(f, "{file}:{line}: {message}"),
            _ => write!(f, "{file}:{line}:{column}: {message}"),
        }
    }
}

/// What is wrong with a configuration file, in the order of the file. Never empty; of very many, the
/// first hundred.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", lines(problems))]
pub struct ConfigError {
    problems: Vec<ConfigProblem>,
}

impl ConfigError {
    /// Puts the problems in order.
    pub fn new(mut problems: Vec<ConfigProblem>) -> Self {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        Self { problems }
    }

    /// About the file as a whole.
    pub(crate) fn whole(file: &str, message: String) -> Self {
        let (file, key) = (file.into(), String::new());
        Self { problems: vec![ConfigProblem { file, line: 0, column: 0, key, message }] }
    }

    /// The problems, in the order of the file.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.problems
    }
}

fn lines(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}
