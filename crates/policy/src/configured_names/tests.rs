use serde_json::json;
use tool::{Info, Section, ToolInfo};

use super::{KnownNames, check_agent_names, check_names, config_warnings};
use crate::planned;

fn tools() -> Vec<ToolInfo> {
    let built = [("read", Section::Fs), ("write", Section::Fs), ("exec", Section::Runtime)];
    let built = built.map(|(name, section)| {
        let aliases: &[_] = if name == "exec" { &["bash"] } else { &[] };
        let info = Info { section, aliases, ..Info::DEFAULT };
        ToolInfo::with(name, "A tool.", json!({}), info)
    });
    built.into_iter().chain(planned()).collect()
}

/// What is wrong with the names in `text`, one line each.
fn problems(text: &str) -> Vec<String> {
    let tools = tools();
    let config = config::parse(text, "t.toml").unwrap();
    let strings = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let known = KnownNames {
        tools: &tools.iter().collect::<Vec<_>>(),
        later_tools: &strings(&["weather_now"]),
        users: Some(&strings(&["owner", "grace"])),
        agents: Some(&strings(&["main", "reader"])),
        providers: &strings(&["openai", "anthropic"]),
    };
    let found = check_names(&config, &known).err();
    found.iter().flat_map(config::ConfigError::problems).map(ToString::to_string).collect()
}

#[test]
#[expect(clippy::too_many_lines, reason = "one flat table of cases")]
fn a_name_that_does_not_exist_is_an_error_wherever_it_stands() {
    for (text, expected) in [
        (
            "[tools]\ndeny = [\"exce\"]",
            "t.toml:2: `tools.deny`: no tool is called `exce`; did you mean `exec`?",
        ),
        (
            "[tools]\nallow = [\"reed\"]",
            "t.toml:2: `tools.allow`: no tool is called `reed`; did you mean `read`?",
        ),
        (
            "[tools]\nalso_allow = [\"zzz\"]",
            "t.toml:2: `tools.also_allow`: no tool is called `zzz`; `toolgate tools` lists them",
        ),
        (
            "[tools]\ndeny = [\"exce*\"]",
            "t.toml:2: `tools.deny`: no tool is called `exce*`; did you mean `exec`?",
        ),
        (
            "[tools]\ndeny = [\"group:runtme\"]",
            "t.toml:2: `tools.deny`: no group is called `group:runtme`; did you mean `group:runtime`?",
        ),
        (
            "[tools]\napprovers = [\"gracee\"]",
            "t.toml:2: `tools.approvers`: no user is called `gracee`; did you mean `grace`? \
             `toolgate users add gracee` adds a user",
        ),
        (
            "[tools.subagents]\nagents = [\"reder\"]",
            "t.toml:2: `tools.subagents.agents`: no agent is called `reder`; did you mean `reader`? \
             `toolgate agents add reder` makes an agent",
        ),
        (
            "[tools.by_channel.http]\ndeny = [\"exce\"]",
            "t.toml:2: `tools.by_channel.http.deny`: no tool is called `exce`; did you mean `exec`?",
        ),
        (
            "[tools.by_sender.eve]\nallow = [\"exce\"]",
            "t.toml:2: `tools.by_sender.eve.allow`: no tool is called `exce`; did you mean `exec`?",
        ),
        (
            "[tools.by_provider.opnai]\ndeny = [\"exec\"]",
            "t.toml:2: `tools.by_provider.opnai`: no provider of models is called `opnai`; did you \
             mean `openai`?",
        ),
        (
            "[tools.by_provider.\"openai/gpt-5\"]\ndeny = [\"exec\"]",
            "t.toml:2: `tools.by_provider.openai/gpt-5`: no provider of models is called \
             `openai/gpt-5`; rules are per provider, not per model: write `openai`",
        ),
        (
            "[tools.sandbox]\ndeny = [\"exce\"]",
            "t.toml:2: `tools.sandbox.deny`: no tool is called `exce`; did you mean `exec`?",
        ),
        (
            "[tools.subagents]\ndeny = [\"exce\"]",
            "t.toml:2: `tools.subagents.deny`: no tool is called `exce`; did you mean `exec`?",
        ),
        (
            "[agents.main.tools]\ndeny = [\"exce\"]",
            "t.toml:2: `agents.main.tools.deny`: no tool is called `exce`; did you mean `exec`?",
        ),
        (
            "[agents.main.tools.by_provider.openai]\ndeny = [\"exce\"]",
            "t.toml:2: `agents.main.tools.by_provider.openai.deny`: no tool is called `exce`; did \
             you mean `exec`?",
        ),
        (
            "[agents.main]\nsessions = [\"nobody-here\"]",
            "t.toml:2: `agents.main.sessions`: no agent is called `nobody-here`; `toolgate agents \
             add nobody-here` makes an agent",
        ),
        (
            "[agents.main]\nsubagents = [\"reder\"]",
            "t.toml:2: `agents.main.subagents`: no agent is called `reder`; did you mean `reader`? \
             `toolgate agents add reder` makes an agent",
        ),
        (
            "[[hooks]]\ncommand = [\"x\"]\ntools = [\"exek\", \"bash\"]",
            "t.toml:3: `hooks.1.tools`: no tool is called `exek`; did you mean `exec`?",
        ),
        (
            "[limits]\nrates.reed = \"60/min\"",
            "t.toml:2: `limits.rates.reed`: no tool is called `reed`; did you mean `read`?",
        ),
        (
            "[limits.timeouts]\nreed = \"1s\"",
            "t.toml:2: `limits.timeouts.reed`: no tool is called `reed`; did you mean `read`?",
        ),
        (
            "[users.adaa.limits]\nrate = \"3/min\"",
            "t.toml:2: `users.adaa`: no user is called `adaa`; `toolgate users add adaa` adds a user",
        ),
    ] {
        assert_eq!(problems(text), [expected], "{text}");
    }
}

#[test]
fn names_of_tools_that_are_not_built_or_come_later_are_fine() {
    let text = "[tools]\ndeny = [\"browser\", \"web_*\", \"group:plugins\", \"GROUP:Fs\", \"Bash\", \"*\",\n\
                \"group:openclaw\", \"weather_now\", \"sessions_yield\"]\napprovers = [\"grace\"]\n\
                [tools.by_sender.\"+15551234\"]\ndeny = []\n[tools.by_channel.anything]\ndeny = []\n\
                [tools.by_provider.OpenAI]\ndeny = []\n[agents.main]\nsessions = [\"*\", \"reader\"]\n\
                [users.owner.limits]\nrate = \"3/min\"\n";
    assert_eq!(problems(text), [""; 0]);
}

#[test]
fn all_problems_come_at_once_in_the_order_of_the_file() {
    let text = "[users.adaa.limits]\nrate = \"3/min\"\n[tools]\napprovers = [\"gracee\"]\ndeny = [\"exce\"]";
    let found = problems(text);
    let lines: Vec<_> = found.iter().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["t.toml:2", "t.toml:4", "t.toml:5"]);
}

#[test]
fn the_settings_of_one_agent_are_checked_alone() {
    let agent = config::stored_agent("reader", &json!({"tools": {"deny": ["exce"]}})).unwrap();
    let tools = tools();
    let tools: Vec<_> = tools.iter().collect();
    let known =
        KnownNames { tools: &tools, later_tools: &[], users: None, agents: None, providers: &[] };
    let error = check_agent_names("reader", &agent, &known).unwrap_err();
    assert!(
        error.to_string().contains("no tool is called `exce`; did you mean `exec`?"),
        "{error}"
    );
}

#[test]
fn a_name_that_is_allowed_and_denied_in_one_place_is_warned_about() {
    let config =
        config::parse("[tools]\nallow = [\"read\"]\ndeny = [\"group:fs\"]", "t.toml").unwrap();
    let tools = tools();
    let found = config_warnings(&config, &tools.iter().collect::<Vec<_>>());
    let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["t.toml:2: `read` is denied in the same place, so this does nothing"]);
}
