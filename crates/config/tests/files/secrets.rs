//! Secrets are fetched from where the file says.

use std::fs;

use config::{ConfigError, resolve_secrets};
use insta::assert_snapshot;

use crate::read;

fn environment(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("hunter2".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    }
}

#[test]
fn come_from_the_environment_and_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, "two\nlines\r\n").unwrap();
    let text = format!("secrets.a = 'env:TOKEN'\nsecrets.b = 'file:{}'", path.display());
    let values = resolve_secrets(&read(&text), environment).unwrap();
    assert_eq!(values["a"].reveal(), "hunter2");
    assert_eq!(values["b"].reveal(), "two\nlines");
    assert!(!format!("{values:?}").contains("hunter2"));
}

#[test]
fn all_that_are_missing_are_reported() {
    let text = "[secrets]\nz = 'env:NOPE'\ny = 'env:EMPTY'\nx = 'file:/does/not/exist'\n";
    let error: ConfigError = resolve_secrets(&read(text), environment).unwrap_err();
    assert_snapshot!(error, @"
    toolgate.toml:2: `secrets.z`: the variable `NOPE` is not set
    toolgate.toml:3: `secrets.y`: the variable `EMPTY` is empty
    toolgate.toml:4: `secrets.x`: `/does/not/exist` cannot be read: No such file or directory (os error 2)
    ");
}
