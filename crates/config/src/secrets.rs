//! Fetches the secrets that the configuration names.

use std::{
    collections::BTreeMap,
    fmt,
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::{Config, ConfigError, ConfigProblem, Secret, Spanned};

/// Longer than any key or certificate chain; a wrong path must not fill the memory.
const MAX_BYTES: u64 = 1 << 16;

/// A secret itself. Not shown by `Debug`.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue(String);

impl SecretValue {
    /// The secret.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

/// For secrets that were found elsewhere.
impl From<String> for SecretValue {
    fn from(secret: String) -> Self {
        Self(secret)
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SecretValue(…)")
    }
}

/// Fetches every secret, by name. `environment` is [`crate::environment`] except in tests.
pub fn resolve_secrets(
    config: &Config,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<BTreeMap<String, SecretValue>, ConfigError> {
    let (mut values, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, secret) in &config.secrets {
        match resolve(secret, &environment) {
            Ok(value) => drop(values.insert(name.clone(), value)),
            Err(message) => problems.push(problem(name, secret, &message)),
        }
    }
    if problems.is_empty() { Ok(values) } else { Err(ConfigError::new(problems)) }
}

fn resolve(
    secret: &Secret,
    environment: impl Fn(&str) -> Option<String>,
) -> Result<SecretValue, String> {
    let (place, value) = match secret {
        Secret::Env(name) => (format!("the variable `{name}`"), environment(name)),
        Secret::File(path) => {
            let text = read(path)
                .map_err(|error| format!("`{}` cannot be read: {error}", path.display()))?;
            (format!("`{}`", path.display()), Some(text))
        }
    };
    match value {
        None => Err(format!("{place} is not set")),
        // Redaction of nothing would find it everywhere.
        Some(value) if value.is_empty() => Err(format!("{place} is empty")),
        Some(value) => Ok(SecretValue(value)),
    }
}

fn read(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(MAX_BYTES + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it is larger than {MAX_BYTES} bytes")));
    }
    let line = text.strip_suffix('\n').unwrap_or(&text);
    Ok(line.strip_suffix('\r').unwrap_or(line).to_owned())
}

fn problem(name: &str, secret: &Spanned<Secret>, message: &str) -> ConfigProblem {
    let key = format!("secrets.{name}");
    let message = format!("`{key}`: {message}");
    let (file, line) =
        secret.at.clone().map_or(("configuration".into(), 0), |at| (at.file, at.line));
    ConfigProblem { file, line, column: 0, key, message }
}
