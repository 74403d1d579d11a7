//! What is different in JSON5.

use std::fs;

use config::{Config, load};
use insta::assert_snapshot;

use crate::{read, read_json, refused_json};

#[test]
fn both_languages_say_the_same() {
    for (toml, json) in [
        ("", "{}"),
        ("", "\u{feff}// nothing\n{ /* at\nall */ }\n"),
        ("tools.deny = ['write', 'exec']", "{tools: {deny: ['write', \"exec\",],},}"),
        ("tools.deny = ['write']", r#"{"tools": {"deny": ["write"]}}"#),
        ("tools.allow = []", "{tools: {allow: []}}"),
        ("limits.depth = 16\nlimits.parameters = 3", "{limits: {depth: 0x10, parameters: +3.0}}"),
        ("limits.timeout = 0.5", "{limits: {timeout: .5}}"),
        ("limits.calls_total = 1000", "{limits: {callsTotal: 1e3}}"),
        ("[agents.main]\n[agents.'my agent']", "{agents: {main: {}, 'my agent': {}}}"),
        (
            "agents.äöü.tools.deny = ['x']".replace("äöü", "'äöü'").as_str(),
            "{agents: {äöü: {tools: {deny: ['x']}}}}",
        ),
        (
            "[tools]\nprofile = 'coding'\n[tools.by_provider.openai]\nalso_allow = ['exec']\n[limits]\nrates.read = '5/s'",
            "{
               tools: {
                 profile: 'coding',
                 byProvider: { openai: { alsoAllow: ['ex\\\nec'] } }, // goes on in the next line
               },
               limits: { rates: { read: '\\u0035/s' } },
             }",
        ),
    ] {
        assert_eq!(read_json(json), read(toml), "{json}");
    }
}

#[test]
fn every_value_remembers_its_line() {
    let config =
        read_json("{\n  tools: {\n    deny: [\n      'write', /*\n*/ 'exec',\n    ],\n  },\n}");
    let deny = config.tools.deny.unwrap();
    assert_eq!(deny.at.as_ref().unwrap().to_string(), "toolgate.json5:3");
    let lines: Vec<_> = deny.iter().map(|name| name.at.as_ref().unwrap().line).collect();
    assert_eq!(lines, [4, 5]);
}

#[test]
fn all_problems_are_reported_in_the_order_of_the_file() {
    assert_snapshot!(refused_json(r#"{
  limits: { timeout: "soon", callsPerAgent: 0 },
  tools: {
    alow: ["read"],
    "deny": ["write", 7],
    profile: "codng",
    ask: null, ask: "auto",
    byProvider: { openai: { profil: "full" } },
  },
  secrets: { github: "ghp_hunter2" },
}"#), @r#"
    toolgate.json5:2:22: `limits.timeout`: expected a duration such as `250ms`, `30s`, `5m`, `1h` or `2d`, or a number of seconds, got `soon`
    toolgate.json5:2:45: `limits.calls_per_agent`: expected a whole number from 1 to 4294967295, got `0`
    toolgate.json5:4:5: unknown key `tools.alow`; did you mean `tools.allow`?
    toolgate.json5:5:23: `tools.deny`: expected a name such as `read`, got `7`
    toolgate.json5:6:14: `tools.profile`: expected `minimal`, `coding`, `messaging`, `gateway` or `full`, got `codng`; did you mean `coding`?
    toolgate.json5:7:10: `tools.ask`: expected `auto`, `smart` or `always`, got null
    toolgate.json5:7:16: `ask` stands in line 7 already; keep one of them
    toolgate.json5:8:29: unknown key `tools.by_provider.openai.profil`; did you mean `tools.by_provider.openai.profile`?
    toolgate.json5:10:22: `secrets.github`: expected the place of a secret, `env:NAME` or `file:PATH`, got a text that is not shown; put the secret into an environment variable or a file, and name that here
    "#);
}

#[test]
fn every_mistake_in_the_syntax_has_its_place() {
    for (text, expected) in [
        ("", "1:1: expected `{`; the whole file is one object"),
        ("[]", "1:1: expected `{`; the whole file is one object"),
        ("tools.ask = 'auto'", "1:1: expected `{`; the whole file is one object"),
        ("{} {}", "1:4: expected nothing after the `}` of the whole file"),
        ("{\n tools: {\n  ask: 'auto',\n}", "1:1: there is no `}` for this"),
        ("{\n tools: {", "2:9: there is no `}` for this"),
        ("{a: [1, 2}", "1:10: expected `,` or `]`"),
        ("{a: 1 b: 2}", "1:7: expected `,` or `}`"),
        ("{a: [,]}", "1:6: expected a value"),
        ("{a: }", "1:5: expected a value"),
        ("{a: hunter2}", "1:5: expected a value; a text stands in quotes"),
        ("{a: 5px}", "1:5: expected a number such as `5`, `-0.5`, `1e3` or `0x1F`"),
        ("{a: -Infinity}", "1:5: `Infinity` and `NaN` are no settings; write a number"),
        ("{a: NaN}", "1:5: `Infinity` and `NaN` are no settings; write a number"),
        ("{ä: 'öü\n'}", "1:5: this text does not end"),
        ("{ä: '\\u12'}", "1:8: expected 4 hexadecimal digits"),
        ("{a: 1 /* b", "1:7: this comment has no end"),
        (
            "{\n  my-agent: 1}",
            "2:5: expected `:` after a key; a key with anything but letters, digits, `_` and `$` stands in quotes",
        ),
        (
            "{,}",
            "1:2: expected a key; a key with anything but letters, digits, `_` and `$` stands in quotes",
        ),
    ] {
        assert_eq!(refused_json(text), format!("toolgate.json5:{expected}"), "{text}");
    }
}

#[test]
fn a_key_stands_once() {
    assert_snapshot!(refused_json("{\n  tools: { ask: 'auto', 'ask': 'always' },\n  channels: { a: 1,\n  a: 1 },\n  tools: {},\n}"), @r#"
    toolgate.json5:2:25: `ask` stands in line 2 already; keep one of them
    toolgate.json5:4:3: `a` stands in line 3 already; keep one of them
    toolgate.json5:5:3: `tools` stands in line 2 already; keep one of them
    "#);
    assert_snapshot!(refused_json("{limits: {callsPerAgent: 1, calls_per_agent: 2}}"), @r#"toolgate.json5:1:29: `callsPerAgent` and `calls_per_agent` are the same key; keep one of them"#);
}

#[test]
fn a_secret_in_the_file_is_refused_and_not_repeated() {
    for text in [
        "{secrets: {github: 'hunter2'}}",
        "{secrets: {github: 'hunter2}}",
        "{secrets: {github: hunter2}}",
        "{secrets: {github: 5hunter2}}",
        "{secrets: {github: ['hunter2']}}",
        "{secrets: 'hunter2'}",
        "{secret: {github: 'hunter2'}}",
        "{channels: {token: 'hunter2'}, x: 1}",
    ] {
        let message = refused_json(text);
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[test]
fn the_name_of_the_file_chooses_the_language() {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("a.json5", "{limits: {depth: 7}}"),
        ("a.JSON", "{limits: {depth: 7}}"),
        ("a.toml", "limits.depth = 7"),
        ("json", "limits.depth = 7"),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let config: Config = load(&path).unwrap();
        assert_eq!(config.limits.depth.value, 7, "{name}");
    }
}
