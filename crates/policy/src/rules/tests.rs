use std::sync::Arc;

use serde_json::json;
use tool::{Caller, Confined, Info, Profile, Section, ToolInfo};

use super::Rules;
use crate::{KnownNames, check_names, explain, planned};

fn tool(name: &str) -> ToolInfo {
    if let Some(info) = planned().into_iter().find(|info| &*info.name == name) {
        return info;
    }
    let info = Info { section: Section::Fs, profiles: &[Profile::Coding], ..Info::DEFAULT };
    let info = match name {
        "exec" => Info { section: Section::Runtime, aliases: &["bash"], ..info },
        "save_note" => Info { section: Section::Notes, profiles: &[Profile::Gateway], ..info },
        _ => info,
    };
    ToolInfo::with(name, "A tool.", json!({}), info)
}

/// `owner`, `member`, and what else is said about the caller.
fn caller(words: &str) -> Caller {
    let mut caller = Caller::owner("main");
    for word in words.split_whitespace() {
        match word.split_once('=') {
            Some(("provider", name)) => caller.provider = Some(name.into()),
            Some(("channel", name)) => caller.channel = Some(name.into()),
            Some(("sender", name)) => caller.sender = Some(name.into()),
            Some(("below", levels)) => {
                for _ in 0..levels.parse().unwrap() {
                    caller.parent = Some(Arc::new(caller.clone()));
                }
            }
            _ if word == "member" => caller = Caller::member("bo", "main"),
            _ if word == "sandboxed" => caller.confined = Confined::Sandboxed,
            _ => panic!("{word}"),
        }
    }
    caller
}

#[test]
#[expect(clippy::too_many_lines, reason = "one row for each case")]
fn each_layer_only_takes_away() {
    for (text, who, name, expected) in [
        ("", "", "read", ""),
        ("", "member", "read", "profile: profile `gateway` does not have it"),
        ("", "member", "save_note", ""),
        ("", "member", "cron", "profile: profile `gateway` does not have it"),
        ("[tools]\nprofile = \"full\"", "member", "cron", "owner: the tool is for the owner"),
        ("", "sender=eve", "cron", "owner: the tool is for the owner"),
        ("[tools]\nprofile = \"coding\"", "", "read", ""),
        (
            "[tools]\nprofile = \"coding\"",
            "",
            "message",
            "profile: profile `coding` does not have it (t.toml:2)",
        ),
        ("[tools]\nprofile = \"coding\"\nalso_allow = [\"message\"]", "", "message", ""),
        (
            "[tools]\nprofile = \"minimal\"\n[agents.main.tools]\nprofile = \"coding\"",
            "",
            "read",
            "",
        ),
        (
            "[tools]\nprofile = \"minimal\"\nalso_allow = [\"message\"]\n[agents.main.tools]\nprofile = \"coding\"",
            "",
            "message",
            "profile: profile `coding` does not have it (t.toml:5)",
        ),
        ("[tools]\nallow = []", "", "read", "global: not in the allow list (t.toml:2)"),
        ("[tools]\nallow = []\nalso_allow = [\"read\"]", "", "read", ""),
        ("[tools]\nallow = [\"r*\"]", "", "read", ""),
        (
            "[tools]\nallow = [\"read\"]\ndeny = [\"group:fs\"]",
            "",
            "read",
            "global: deny `group:fs` (t.toml:3)",
        ),
        ("[tools]\ndeny = [\"write\"]", "", "edit", "global: deny `write` (t.toml:2)"),
        ("[tools]\ndeny = [\"wri*\"]", "", "apply_patch", "global: deny `wri*` (t.toml:2)"),
        ("[tools]\nallow = [\"write\"]", "", "edit", "global: not in the allow list (t.toml:2)"),
        (
            "[tools]\ndeny = [\"read\"]\n[agents.main.tools]\nalso_allow = [\"read\"]",
            "",
            "read",
            "global: deny `read` (t.toml:2)",
        ),
        ("[agents.main.tools]\ndeny = [\"read\"]", "", "read", "agent: deny `read` (t.toml:2)"),
        ("[agents.other.tools]\ndeny = [\"read\"]", "", "read", ""),
        ("[tools.by_provider.acme]\ndeny = [\"read\"]", "", "read", ""),
        (
            "[tools.by_provider.acme]\ndeny = [\"read\"]",
            "provider=ACME",
            "read",
            "global provider: deny `read` (t.toml:2)",
        ),
        (
            "[tools.by_provider.acme]\nprofile = \"minimal\"",
            "provider=acme",
            "read",
            "provider profile: profile `minimal` does not have it (t.toml:2)",
        ),
        (
            "[agents.main.tools.by_provider.acme]\nallow = [\"ls\"]",
            "provider=acme",
            "read",
            "agent provider: not in the allow list (t.toml:2)",
        ),
        (
            "[tools.by_channel.slack]\ndeny = [\"read\"]",
            "channel=slack",
            "read",
            "group: deny `read` (t.toml:2)",
        ),
        (
            "[tools.by_sender.eve]\nallow = []",
            "sender=eve",
            "read",
            "sender: not in the allow list (t.toml:2)",
        ),
        ("", "sandboxed", "browser", "sandbox: a sandbox loses `browser` unless it is allowed"),
        ("[tools.sandbox]\nalso_allow = [\"browser\"]", "sandboxed", "browser", ""),
        ("", "sandboxed", "read", ""),
        ("", "channel=http", "exec", "group: a call over HTTP loses `exec` unless it is allowed"),
        ("", "channel=HTTP", "cron", "group: a call over HTTP loses `cron` unless it is allowed"),
        ("", "channel=http", "read", ""),
        ("[tools.by_channel.http]\nalso_allow = [\"bash\"]", "channel=http", "exec", ""),
        ("[tools.by_channel.http]\nallow = [\"read\", \"exec\"]", "channel=http", "exec", ""),
        (
            "[tools.by_channel.http]\nprofile = \"coding\"",
            "channel=http",
            "exec",
            "group: a call over HTTP loses `exec` unless it is allowed",
        ),
        (
            "[tools.by_channel.slack]\nallow = [\"exec\"]",
            "channel=http",
            "exec",
            "group: a call over HTTP loses `exec` unless it is allowed",
        ),
        ("", "below=1", "cron", "sub-agent: a sub-agent loses `cron` unless it is allowed"),
        ("", "below=1", "sessions_spawn", ""),
        (
            "",
            "below=3",
            "sessions_spawn",
            "sub-agent: a sub-agent loses `sessions_spawn` unless it is allowed",
        ),
        (
            "[tools.subagents]\nallow = [\"ls\"]",
            "below=1",
            "read",
            "sub-agent: not in the allow list (t.toml:2)",
        ),
    ] {
        let rules = Rules::new(&config::parse(text, "t.toml").unwrap(), &caller(who));
        let explained = explain(&rules, &tool(name), None);
        let taken = rules.against(&tool(name)).is_some();
        let shown = if taken { explained.reason.as_str() } else { "" };
        assert_eq!(shown, expected, "{text} {who} {name}");
    }
}

/// multiuser-005.
#[test]
fn an_empty_list_is_nobody_in_every_layer() {
    for (table, who) in [
        ("tools", ""),
        ("tools.by_provider.acme", "provider=acme"),
        ("tools.by_channel.mail", "channel=mail"),
        ("tools.by_sender.eve", "sender=eve"),
        ("tools.sandbox", "sandboxed"),
        ("tools.subagents", "below=1"),
        ("agents.main.tools", ""),
        ("agents.main.tools.by_provider.acme", "provider=acme"),
    ] {
        let config = config::parse(&format!("[{table}]\nallow = []"), "t.toml").unwrap();
        let rules = Rules::new(&config, &caller(who));
        for name in planned().iter().map(|info| info.name.clone()).chain(["read".into()]) {
            assert!(rules.against(&tool(&name)).is_some(), "{table} gives `{name}`");
        }
    }
}

/// multiuser-008.
#[test]
fn a_denied_name_is_compared_in_its_canonical_form() {
    for (deny, name, denied) in [
        ("EXEC", "exec", true),
        ("bash", "exec", true),
        (" Exec ", "exec", true),
        ("ex*", "exec", true),
        ("*", "exec", true),
        ("group:runtime", "exec", true),
        ("GROUP:Runtime", "exec", true),
        ("exe", "exec", false),
        ("exec.evil", "exec", false),
    ] {
        let config = config::parse(&format!("[tools]\ndeny = [\"{deny}\"]"), "t.toml").unwrap();
        let rule = Rules::new(&config, &caller("")).against(&tool(name));
        assert_eq!(rule.is_some(), denied, "{deny}");
        let known = KnownNames {
            tools: &[&tool(name)],
            later_tools: &[],
            users: None,
            agents: None,
            providers: &[],
        };
        assert_eq!(check_names(&config, &known).is_err(), !denied, "{deny}");
    }
}
