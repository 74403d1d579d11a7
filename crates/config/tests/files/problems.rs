//! What people are told when a file is wrong.

use std::{fs, path::Path};

use config::load;
use insta::assert_snapshot;

use crate::refused;

#[test]
fn all_problems_are_reported_in_the_order_of_the_file() {
    assert_snapshot!(refused(r#"
[limits]
timeout = "soon"
calls_per_agent = 0
rates.read = "30/fortnight"
[tools]
alow = ["read"]
deny = ["write", 7, "", ["exec"]]
ask = "allways"
[agents.main]
workspace = "code"
[limts]
depth = 3
[secrets]
github = "ghp_hunter2"
"#), @"
    toolgate.toml:3:11: `limits.timeout`: expected a duration such as `250ms`, `30s`, `5m`, `1h` or `2d`, or a number of seconds, got `soon`
    toolgate.toml:4:19: `limits.calls_per_agent`: expected a whole number from 1 to 4294967295, got `0`
    toolgate.toml:5:14: `limits.rates.read`: expected a rate such as `5/s`, `30/min`, `100/h` or `1000/day`, got `30/fortnight`
    toolgate.toml:7:1: unknown key `tools.alow`; did you mean `tools.allow`?
    toolgate.toml:8:18: `tools.deny`: expected a name such as `read`, got `7`
    toolgate.toml:8:21: `tools.deny`: expected a name such as `read`, got an empty text
    toolgate.toml:8:25: `tools.deny`: expected a name such as `read`, got a list
    toolgate.toml:9:7: `tools.ask`: expected `auto`, `smart` or `always`, got `allways`; did you mean `always`?
    toolgate.toml:11:13: `agents.main.workspace`: expected an absolute path such as `/srv/data` or `~/data`, got `code`
    toolgate.toml:12:2: unknown key `limts`; did you mean `limits`?
    toolgate.toml:15:10: `secrets.github`: expected the place of a secret, `env:NAME` or `file:PATH`, got a text that is not shown; put the secret into an environment variable or a file, and name that here
    ");
}

#[test]
fn a_hook_that_runs_nothing_is_refused() {
    for text in ["[[hooks]]\ntools = [\"read\"]", "[[hooks]]\ncommand = []"] {
        let expected = "a hook needs `command`: a list of the program and its arguments";
        assert!(refused(text).contains(expected), "{}", refused(text));
    }
}

#[test]
fn an_unknown_key_names_the_nearest() {
    for (text, expected) in [
        ("tools.alow = []", "7: unknown key `tools.alow`; did you mean `tools.allow`?"),
        ("tool.allow = []", "1: unknown key `tool`; did you mean `tools`?"),
        ("Tools.allow = []", "1: unknown key `Tools`; did you mean `tools`?"),
        ("deny = []", "1: unknown key `deny`; did you mean `tools.deny`?"),
        ("timeout = 5", "1: unknown key `timeout`; did you mean `limits.timeout`?"),
        (
            "limits.hooktimeout = 5",
            "8: unknown key `limits.hooktimeout`; did you mean `limits.hook_timeout`?",
        ),
        (
            "agents.main.tool = 1",
            "13: unknown key `agents.main.tool`; did you mean `agents.main.tools`?",
        ),
        (
            "agents.'a.b'.x = 1",
            r#"14: unknown key `agents."a.b".x`; known here: `description`, `model`, `prompt`, `max_tokens`, `temperature`, `subagents`, `sessions`, `workspace`, `limits`, `tools`"#,
        ),
        (
            "store.zzz = 1",
            "7: unknown key `store.zzz`; known here: `keep_bytes`, `keep_days`, `payload_days`",
        ),
        ("secrets.'' = 'env:X'", r#"9: unknown key `secrets.""`; known here: `<name>`"#),
    ] {
        assert_eq!(refused(text), format!("toolgate.toml:1:{expected}"));
    }
}

#[test]
fn both_spellings_of_a_key_are_refused() {
    assert_snapshot!(refused("
[limits]
calls_per_agent = 3
callsPerAgent = 4
[tools]
ask = 'auto'
"), @"toolgate.toml:4:1: `calls_per_agent` and `callsPerAgent` are the same key; keep one of them");
}

#[test]
fn a_value_of_another_type_is_refused() {
    for (text, expected) in [
        ("tools = 1", "9: `tools`: expected a table, got a number"),
        (
            "tools.deny = 'write'",
            r#"14: `tools.deny`: expected a list of names such as `["read"]`, got `write`"#,
        ),
        ("tools.ask = true", "13: `tools.ask`: expected `auto`, `smart` or `always`, got `true`"),
        (
            "tools.ask = 'Smart'",
            "13: `tools.ask`: expected `auto`, `smart` or `always`, got `Smart`; did you mean `smart`?",
        ),
        (
            "limits.depth = -1",
            "16: `limits.depth`: expected a whole number from 0 to 4294967295, got `-1`",
        ),
        (
            "limits.depth = 1.5",
            "16: `limits.depth`: expected a whole number from 0 to 4294967295, got `1.5`",
        ),
        (
            "limits.depth = 1999-01-01",
            "16: `limits.depth`: expected a whole number from 0 to 4294967295, got a date",
        ),
        (
            "limits.timeouts.read = 0",
            "24: `limits.timeouts.read`: expected a duration longer than 0 and at most 36500d, got `0`",
        ),
        (
            "limits.timeout = nan",
            "18: `limits.timeout`: expected a duration longer than 0 and at most 36500d, got `NaN`",
        ),
        (
            "limits.rates.read = '0/s'",
            "21: `limits.rates.read`: expected at least one call (`tools.deny` switches a tool off), got `0/s`",
        ),
        (
            "tools.profile = 'codng'",
            "17: `tools.profile`: expected `minimal`, `coding`, `messaging`, `gateway` or `full`, got `codng`; did you mean `coding`?",
        ),
        ("[[agents]]", "1: `agents`: expected a table, got a list"),
        (
            "tools.fs.roots = ['data']",
            "19: `tools.fs.roots`: expected an absolute path such as `/srv/data` or `~/data`, got `data`",
        ),
    ] {
        assert_eq!(refused(text), format!("toolgate.toml:1:{expected}"));
    }
}

#[test]
fn a_secret_in_the_file_is_refused_and_not_repeated() {
    for text in [
        "secrets.github = 'hunter2'",
        "secrets.github = 'env:=hunter2'",
        "secrets.github = 'file:hunter2'",
        "secrets.github = ['hunter2']",
        "secrets.github = { token = 'hunter2' }",
        "secrets = 'hunter2'",
        "secrets.github = 'hunter2",
        "secrets.github = hunter2",
        "secret.github = 'hunter2'",
    ] {
        let message = refused(text);
        assert!(!message.contains("hunter2"), "{message}");
    }
    assert_snapshot!(refused("secrets.github = 'hunter2'"), @"toolgate.toml:1:18: `secrets.github`: expected the place of a secret, `env:NAME` or `file:PATH`, got a text that is not shown; put the secret into an environment variable or a file, and name that here");
}

#[test]
fn every_mistake_in_the_syntax_has_its_line() {
    assert_snapshot!(refused("a = \n[tools]\ndeny = ['x'\nask = 'auto'\n"), @"
    toolgate.toml:1:5: string values must be quoted, expected literal string
    toolgate.toml:4:1: missing comma between array elements, expected `,`
    ");
    assert_snapshot!(refused("tools.ask = 'auto'\ntools.ask = 'auto'"), @"toolgate.toml:2:7: duplicate key");
}

#[test]
fn columns_count_characters() {
    assert_snapshot!(refused("tools.deny = ['äöü', 1]"), @"toolgate.toml:1:22: `tools.deny`: expected a name such as `read`, got `1`");
}

#[test]
fn a_file_that_cannot_be_read_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("latin1.toml"), b"tools.ask = '\xe4'").unwrap();
    fs::write(path("large.toml"), "#".repeat(2 << 20)).unwrap();
    let refused = |path: &Path| {
        let message = load(path).unwrap_err().to_string();
        message.replace(folder.path().to_str().unwrap(), "")
    };
    for (name, expected) in [
        ("missing.toml", "/missing.toml: cannot be read: No such file or directory (os error 2)"),
        ("latin1.toml", "/latin1.toml: not UTF-8 text; save it as UTF-8"),
        ("large.toml", "/large.toml: larger than 1048576 bytes; is this the right file?"),
    ] {
        assert_eq!(refused(&path(name)), expected);
    }
}

#[test]
fn what_may_be_a_key_is_not_repeated() {
    let text = "[providers.x]
base_url = 'https://me:hunter2@models.example'
key = ['hunter2']
input_price = -1
[agents.a]
prompt = 'file:prompt.md'
description = ' '
temperature = 0.00000001
";
    assert!(!refused(text).contains("hunter2"), "{}", refused(text));
    assert_snapshot!(refused(text), @"
    toolgate.toml:2:12: `providers.x.base_url`: expected a URL without a user name or password; name a secret as `key` instead, got one that is not shown
    toolgate.toml:3:7: `providers.x.key`: expected the name of one of `secrets`, got a list that is not shown; put the secret into an environment variable or a file, and name that here
    toolgate.toml:4:15: `providers.x.input_price`: expected a number from 0 to 1000000, such as `3` or `0.25`, with up to six digits after the point, got `-1`
    toolgate.toml:6:10: `agents.a.prompt`: expected `file:` and an absolute path such as `/srv/data` or `~/data`, got `file:prompt.md`
    toolgate.toml:7:15: `agents.a.description`: expected a text, got ` `
    toolgate.toml:8:15: `agents.a.temperature`: expected a number from 0 to 1000000, such as `3` or `0.25`, with up to six digits after the point, got `0.00000001`
    ");
}
