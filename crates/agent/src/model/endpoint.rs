//! One provider, as it is reached.

use std::{collections::BTreeMap, fmt, time::Duration};

use config::SecretValue;
use provider::Format;

use super::{Price, known::Known};

/// One provider: how it is reached, or why it cannot be used.
#[derive(Debug)]
pub(super) struct Endpoint {
    pub(super) name: String,
    pub(super) known: Option<&'static Known>,
    /// The model to use where nobody names one.
    pub(super) model: Option<String>,
    pub(super) reach: Result<Reach, String>,
}

/// How a provider is reached.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) format: Format,
    /// What its paths begin with, without a slash at the end.
    pub(super) base_url: String,
    pub(super) key: Option<Key>,
    pub(super) headers: BTreeMap<String, String>,
    /// How long it may send nothing.
    pub(super) idle: Duration,
    pub(super) retries: u32,
    /// What the configuration says about all of its models.
    pub(super) context_tokens: Option<u32>,
    pub(super) price: Option<Price>,
}

/// A key, and where it came from. `Debug` shows only that.
#[derive(Clone)]
pub(super) struct Key {
    value: SecretValue,
    whence: Whence,
}

#[derive(Debug, Clone)]
enum Whence {
    Variable(String),
    Secret(String),
}

impl Key {
    pub(super) fn variable(name: &str, value: String) -> Self {
        Self { value: value.into(), whence: Whence::Variable(name.to_owned()) }
    }

    pub(super) fn secret(name: &str, value: SecretValue) -> Self {
        Self { value, whence: Whence::Secret(name.to_owned()) }
    }

    pub(super) fn reveal(&self) -> &str {
        self.value.reveal().trim()
    }

    /// Where to change it.
    pub(super) fn whence(&self) -> String {
        match &self.whence {
            Whence::Variable(name) => format!("the variable `{name}`"),
            Whence::Secret(name) => format!("the secret `{name}`"),
        }
    }

    /// The variable and its value, if it is not one of the configured secrets.
    pub(super) fn found(&self) -> Option<(String, SecretValue)> {
        match &self.whence {
            Whence::Variable(name) => Some((name.clone(), self.value.clone())),
            Whence::Secret(_) => None,
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key({})", self.whence())
    }
}
