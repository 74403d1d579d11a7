//! The list of keys, and what is made of it.

use std::collections::BTreeSet;

use config::{Config, Key, Kind, keys, reference};

use crate::{read, read_json, refused, refused_json};

/// The key with something in the place of a part in angle brackets.
fn concrete(key: &Key) -> String {
    key.path.split('.').map(|part| part.trim_matches(['<', '>'])).collect::<Vec<_>>().join(".")
}

/// A value of a kind that is nobody's default.
fn sample(kind: Kind) -> String {
    match kind {
        Kind::Name => "'exec'".to_owned(),
        Kind::Path | Kind::Folder => "'/elsewhere'".to_owned(),
        Kind::OneOf(words) => format!("'{}'", words.last().unwrap()),
        Kind::Switch => "true".to_owned(),
        Kind::Duration => "'77s'".to_owned(),
        Kind::Size | Kind::Count | Kind::Positive => "77".to_owned(),
        Kind::Rate => "'77/h'".to_owned(),
        Kind::Secret => "'env:NAME'".to_owned(),
        Kind::Text | Kind::Prompt | Kind::SecretName => "'some text'".to_owned(),
        Kind::Url => "'https://models.example/v1'".to_owned(),
        Kind::Decimal => "0.25".to_owned(),
        Kind::Host => "'*.example.org:9200'".to_owned(),
        Kind::Address => "'[::1]:77'".to_owned(),
        Kind::Origin => "'https://example.org'".to_owned(),
        Kind::List(kind) => format!("[{}]", sample(*kind)),
    }
}

#[test]
fn the_documented_defaults_are_the_defaults() {
    // A table with a name of its own is not there by default.
    for key in keys().iter().filter(|key| !key.default.is_empty() && !key.path.contains('<')) {
        let text = format!("{} = {}", key.path, key.default);
        assert_eq!(read(&text), Config::default(), "{text}");
    }
}

#[test]
fn every_key_fills_the_field_of_its_name() {
    for key in keys() {
        let filled = format!("{:?}", read(&format!("{} = {}", concrete(key), sample(key.kind()))));
        // Only what a file says has a place, so the field stands right before the first one.
        let before =
            filled.split(", at: Some").next().unwrap().rsplit(", at: None").next().unwrap();
        let field = key.path.rsplit('.').find(|part| !part.starts_with('<')).unwrap();
        assert!(before.contains(&format!("{field}: ")), "{}: {filled}", key.path);
    }
}

/// The key and a value as JSON5, each name through `spell`.
fn json(key: &Key, value: &str, spell: fn(&str) -> String) -> String {
    concrete(key).rsplit('.').fold(value.to_owned(), |inside, name| {
        format!("{{ // {name}\n  {}: {inside},\n}}", spell(name))
    })
}

fn camel_case(name: &str) -> String {
    let mut after = ' ';
    let letters = name.chars().map(|letter| {
        let upper = std::mem::replace(&mut after, letter) == '_';
        if upper { letter.to_ascii_uppercase() } else { letter }
    });
    letters.filter(|letter| *letter != '_').collect()
}

#[test]
fn every_key_is_the_same_in_json5() {
    for key in keys() {
        let value = sample(key.kind());
        let expected = read(&format!("{} = {value}", concrete(key)));
        for spell in [str::to_owned, camel_case, |name: &str| format!("'{name}'")] {
            let text = json(key, &value, spell);
            assert_eq!(read_json(&text), expected, "{text}");
        }
        let message = refused_json(&json(key, "null", camel_case));
        let depth = key.path.split('.').count();
        let expected = format!("toolgate.json5:{}:", depth + 1);
        assert!(message.starts_with(&expected), "{message}");
        assert!(message.contains(&format!("`{}`: expected ", concrete(key))), "{message}");
        assert!(message.contains(", got null"), "{message}");
    }
}

#[test]
fn no_two_keys_fill_the_same_field() {
    let filled = keys().iter().map(|key| {
        let config = read(&format!("{} = {}", concrete(key), sample(key.kind())));
        format!("{config:?}")
    });
    assert_eq!(filled.collect::<BTreeSet<_>>().len(), keys().len());
}

#[test]
fn a_key_without_a_default_is_unset() {
    let defaults = format!("{:?}", Config::default());
    for key in keys().iter().filter(|key| key.default.is_empty()) {
        let field = key.path.rsplit('.').next().unwrap();
        let unset = format!(" {field}: None");
        assert!(key.path.contains('<') || defaults.contains(&unset), "{}", key.path);
    }
}

#[test]
fn every_key_has_help_that_fits_a_table() {
    for Key { path, help, .. } in keys() {
        assert!(help.ends_with('.') && !help.contains(['|', '\n']), "{path}: {help}");
        let snake = |c: char| c.is_ascii_lowercase() || matches!(c, '_' | '.' | '<' | '>');
        assert!(path.chars().all(snake), "{path}");
    }
}

#[test]
fn every_key_refuses_what_it_is_not_and_says_how() {
    for key in keys() {
        let message = refused(&format!("{} = 1999-01-01", concrete(key)));
        assert!(message.contains(&format!("`{}`: expected ", concrete(key))), "{message}");
    }
}

#[test]
fn the_reference_lists_every_key_and_its_example_is_right() {
    let page = reference();
    for key in keys() {
        assert!(page.contains(&format!("| `{}` | ", key.path)), "{}", key.path);
    }
    let block = |language: &str| {
        let start = format!("```{language}\n");
        page.split(&start).nth(1).unwrap().split("```").next().unwrap().to_owned()
    };
    let example = read(&block("toml"));
    assert_eq!(example.agents.len(), 1);
    assert_eq!(read_json(&block("json5")), example);
}
