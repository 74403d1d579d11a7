//! Whole files: TOML in, configuration or problems out.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a failed setup should fail the test")]

mod hostile;
mod keys;
mod problems;
mod secrets;
mod values;

use config::{Config, parse};

/// What `text` configures.
fn read(text: &str) -> Config {
    parse(text, "toolgate.toml").unwrap()
}

/// What is wrong with `text`.
fn refused(text: &str) -> String {
    parse(text, "toolgate.toml").expect_err(text).to_string()
}
