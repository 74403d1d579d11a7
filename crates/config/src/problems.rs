//! Collects what is wrong, so that one run shows all of it.

use std::sync::Arc;

use crate::{
    At, Config, ConfigError, ConfigProblem, Kind, Spanned,
    node::{Node, Position},
};

const SECRETS: &str = "put the secret into an environment variable or a file, and name that here";

/// What is wrong with a file so far.
#[derive(Debug)]
pub(crate) struct Problems {
    file: Arc<str>,
    list: Vec<ConfigProblem>,
}

impl Problems {
    /// Nothing yet.
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.into(), list: Vec::new() }
    }

    /// `value`, which remembers that it was read from `node`.
    pub(crate) fn spanned<T>(&self, value: T, node: &Node) -> Spanned<T> {
        let at = At { file: self.file.clone(), line: node.position.line };
        Spanned { value, at: Some(at) }
    }

    /// Adds one.
    pub(crate) fn add(&mut self, position: Position, key: &str, message: String) {
        let Position { line, column } = position;
        let (file, key) = (self.file.clone(), key.to_owned());
        self.list.push(ConfigProblem { file, line, column, key, message });
    }

    /// Adds one about a value that is not what `expected` says.
    pub(crate) fn unexpected(&mut self, node: &Node, key: &str, kind: Kind, expected: &str) {
        // What stands there may be the secret.
        let got = if kind == Kind::Secret {
            format!("{} that is not shown; {SECRETS}", node.what())
        } else {
            node.shown()
        };
        self.add(node.position, key, format!("`{key}`: expected {expected}, got {got}"));
    }

    /// `config`, if nothing is wrong with it.
    pub(crate) fn or(self, config: Config) -> Result<Config, ConfigError> {
        if self.list.is_empty() { Ok(config) } else { Err(ConfigError::new(self.list)) }
    }
}
