//! Collects what is wrong, so that one run shows all of it.

use std::sync::Arc;

use tool::nearest;

use crate::{
    At, Config, ConfigError, ConfigProblem, Kind, Loaded, Spanned,
    node::{Node, Position},
};

/// More than anybody reads in one go; to look for the nearest of many names takes time.
const MOST: usize = 100;

const SECRETS: &str = "put the secret into an environment variable or a file, and name that here";

/// What is wrong with a file so far.
#[derive(Debug)]
pub(crate) struct Problems {
    file: Arc<str>,
    list: Vec<ConfigProblem>,
    warnings: Vec<ConfigProblem>,
}

impl Problems {
    /// Nothing yet.
    pub(crate) fn new(file: &str) -> Self {
        Self { file: file.into(), list: Vec::new(), warnings: Vec::new() }
    }

    /// `value`, which remembers that it was read from `node`.
    pub(crate) fn spanned<T>(&self, value: T, node: &Node) -> Spanned<T> {
        let at = At { file: self.file.clone(), line: node.position.line };
        Spanned { value, at: Some(at) }
    }

    /// Whether more would help nobody.
    pub(crate) const fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    /// Adds one.
    pub(crate) fn add(&mut self, position: Position, key: &str, message: String) {
        if !self.is_full() {
            self.list.push(self.problem(position, key, message));
        }
    }

    /// Adds one that does no harm.
    pub(crate) fn warn(&mut self, position: Position, key: &str, message: String) {
        self.warnings.push(self.problem(position, key, message));
    }

    /// Adds one about a key that only `OpenClaw` has.
    pub(crate) fn foreign(&mut self, position: Position, key: &str) {
        let message = format!("`{key}` is a key of OpenClaw that Toolgate does not have; ignored");
        self.warn(position, key, message);
    }

    /// Adds one about a value that is not what `expected` says.
    pub(crate) fn unexpected(&mut self, node: &Node, key: &str, kind: Kind, expected: &str) {
        let got = match (kind, node.text()) {
            // What stands there may be the secret.
            (Kind::Secret | Kind::SecretName, _) => {
                format!("{} that is not shown; {SECRETS}", node.what())
            }
            (Kind::Url, Some(text)) if text.contains('@') => "one that is not shown".to_owned(),
            (Kind::OneOf(words), Some(text)) => match nearest(text, words.iter().copied()) {
                Some(near) => format!("{}; did you mean `{near}`?", node.shown()),
                None => node.shown(),
            },
            _ => node.shown(),
        };
        self.add(node.position, key, format!("`{key}`: expected {expected}, got {got}"));
    }

    /// `config`, if nothing is wrong with it.
    pub(crate) fn or(self, config: Config) -> Result<Loaded, ConfigError> {
        let Self { file: _, list, mut warnings } = self;
        warnings.sort_by_key(|warning| (warning.line, warning.column));
        if list.is_empty() { Ok(Loaded { config, warnings }) } else { Err(ConfigError::new(list)) }
    }

    fn problem(&self, position: Position, key: &str, message: String) -> ConfigProblem {
        let Position { line, column } = position;
        ConfigProblem { file: self.file.clone(), line, column, key: key.to_owned(), message }
    }
}
