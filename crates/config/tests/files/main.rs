//! Whole files: TOML or JSON5 in, configuration or problems out.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed setup should fail the test")]

mod editing;
mod hostile;
mod json5;
mod keys;
mod layers;
mod openclaw;
mod problems;
mod secrets;
mod showing;
mod values;

use config::{Config, parse};

/// What `text` configures.
fn read(text: &str) -> Config {
    parse(text, "toolgate.toml").unwrap()
}

/// What `text`, which is JSON5, configures.
fn read_json(text: &str) -> Config {
    parse(text, "toolgate.json5").unwrap()
}

/// What is wrong with `text`.
fn refused(text: &str) -> String {
    parse(text, "toolgate.toml").expect_err(text).to_string()
}

/// What is wrong with `text`, which is JSON5.
fn refused_json(text: &str) -> String {
    parse(text, "toolgate.json5").expect_err(text).to_string()
}
