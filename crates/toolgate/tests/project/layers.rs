//! Keeps dependencies pointing one way. Change the table on purpose, not by accident.

use std::{collections::BTreeMap, fs};

/// Each crate, and the crates of ours it may use.
const ALLOWED: &[(&str, &[&str])] = &[
    ("agent", &["tool", "config", "provider", "world", "gate", "store"]),
    ("config", &["tool"]),
    ("gate", &["tool", "config", "policy", "store"]),
    ("policy", &["tool", "config"]),
    ("provider", &["tool"]),
    ("sandbox", &["tool", "config", "world"]),
    ("scripted", &["tool"]),
    (
        "server",
        &[
            "tool", "config", "policy", "provider", "world", "sandbox", "services", "store",
            "gate", "tools", "plugin", "agent", "cluster",
        ],
    ),
    ("services", &["tool", "config", "world", "sandbox", "store"]),
    ("store", &["tool"]),
    ("tool", &[]),
    (
        "toolgate",
        &[
            "tool", "config", "policy", "provider", "world", "sandbox", "services", "store",
            "gate", "tools", "agent", "server",
        ],
    ),
    ("tools", &["tool"]),
    ("world", &["tool", "config", "policy"]),
];

/// Crates from elsewhere that only one of ours may use.
const ALONE: &[(&str, &str)] =
    &[("anyhow", "toolgate"), ("rusqlite", "store"), ("sqlx", "store"), ("clap", "toolgate")];

#[test]
fn dependencies_point_one_way() {
    let allowed: BTreeMap<_, _> = ALLOWED.iter().copied().collect();
    // Walks the folder, not the table: a crate nobody listed fails too.
    for entry in fs::read_dir(crate::top().join("crates")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let may_use = allowed.get(name).unwrap_or_else(|| panic!("add `{name}` to the table"));
        let manifest = fs::read_to_string(path.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let uses = manifest.get("dependencies").and_then(toml::Value::as_table);
        for used in uses.into_iter().flat_map(toml::Table::keys).map(String::as_str) {
            let fine = may_use.contains(&used) || !allowed.contains_key(used);
            assert!(fine, "`{name}` may not depend on `{used}`; see ARCHITECTURE.md");
            let alone = ALONE.iter().find(|(dependency, _)| *dependency == used);
            assert!(alone.is_none_or(|(_, only)| *only == name), "only one crate may use `{used}`");
        }
    }
}

/// Crates that are there for tests and must not ship.
const TESTS_ONLY: &[&str] = &["scripted"];

#[test]
fn what_is_for_tests_does_not_ship() {
    for entry in fs::read_dir(crate::top().join("crates")).unwrap() {
        let manifest = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let uses = manifest.get("dependencies").and_then(toml::Value::as_table);
        let shipped = |name: &&str| uses.is_some_and(|uses| uses.contains_key(*name));
        assert_eq!(TESTS_ONLY.iter().find(|name| shipped(name)), None, "{manifest:?}");
    }
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    for entry in fs::read_dir(crate::top().join("crates")).unwrap() {
        let manifest = entry.unwrap().path().join("Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        assert!(text.contains("[lints]\nworkspace = true"), "{}", manifest.display());
    }
}
