//! What a file that is right configures.

use std::{fs, path::PathBuf, time::Duration};

use config::{Ask, Config, Names, load};
use tool::Rate;

use crate::read;

fn names(list: Option<&Names>) -> Option<Vec<(&str, u32)>> {
    let line = |at: &Option<config::At>| at.as_ref().unwrap().line;
    list.map(|list| list.iter().map(|name| (name.as_str(), line(&name.at))).collect())
}

#[test]
fn nothing_is_the_default() {
    assert_eq!(read("# nothing\n"), Config::default());
}

#[test]
fn unset_is_not_empty() {
    assert_eq!(names(read("").tools.allow.as_ref()), None);
    let tools = read("tools.allow = []").tools;
    assert_eq!(names(tools.allow.as_ref()), Some(vec![]));
    assert_eq!(tools.allow.unwrap().at.unwrap().to_string(), "toolgate.toml:1");
}

#[test]
fn every_item_of_a_list_remembers_its_line() {
    let config = read("[tools]\ndeny = [\n  'write', 'edit',\n  'exec',\n]\n");
    let expected = vec![("write", 3), ("edit", 3), ("exec", 4)];
    assert_eq!(names(config.tools.deny.as_ref()), Some(expected));
    assert_eq!(config.tools.deny.unwrap().at.unwrap().to_string(), "toolgate.toml:2");
}

#[test]
fn an_agent_has_its_own_rules() {
    let config = read("[agents.'my.agent']\nworkspace = '/w'\ntools.deny = ['exec']\n[agents.new]");
    let agent = &config.agents["my.agent"];
    assert_eq!(agent.workspace.as_ref().unwrap().value, PathBuf::from("/w"));
    assert_eq!(names(agent.tools.deny.as_ref()), Some(vec![("exec", 3)]));
    assert_eq!(names(agent.tools.allow.as_ref()), None);
    assert!(config.agents.contains_key("new"), "an empty table is an agent too");
}

#[test]
fn camel_case_is_the_same_key_and_names_are_left_alone() {
    let limits = read("[limits]\ncallsPerAgent = 3\ntimeouts.webSearch = '1m'").limits;
    assert_eq!(limits.calls_per_agent.get(), 3);
    assert_eq!(limits.timeouts["webSearch"].value, Duration::from_mins(1));
}

#[test]
fn durations_are_text_or_seconds() {
    for (text, millis) in [("'250ms'", 250), ("90", 90_000), ("0.5", 500), ("'2d'", 172_800_000)] {
        let timeout = read(&format!("limits.timeout = {text}")).limits.timeout.unwrap();
        assert_eq!(timeout.value, Duration::from_millis(millis), "{text}");
    }
}

#[test]
fn sizes_are_text_or_bytes() {
    for (text, bytes) in [("'50KB'", 50_000), ("'64KiB'", 65_536), ("1_000", 1_000), ("0x10", 16)] {
        let limits = read(&format!("limits.output_bytes = {text}")).limits;
        assert_eq!(limits.output_bytes.value, bytes, "{text}");
    }
}

#[test]
fn rates_are_calls_in_some_time() {
    for (text, calls, seconds) in
        [("5/s", 5, 1), ("30/min", 30, 60), ("100 / h", 100, 3_600), ("9/day", 9, 86_400)]
    {
        let limits = read(&format!("limits.rates.read = '{text}'")).limits;
        let per = Duration::from_secs(seconds);
        assert_eq!(limits.rates["read"].value, Rate { calls, per }, "{text}");
    }
}

#[test]
fn stricter_is_greater() {
    assert!(Ask::Always > Ask::Smart && Ask::Smart > Ask::Auto);
    assert_eq!(read("tools.ask = 'always'").tools.ask.value, Ask::Always);
}

#[test]
fn a_value_names_the_file_it_came_from() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    fs::write(&path, "\u{feff}# with a mark that some editors write\nlimits.depth = 7\n").unwrap();
    let depth = load(&path).unwrap().limits.depth;
    assert_eq!(depth.value, 7);
    assert_eq!(depth.at.unwrap().to_string(), format!("{}:2", path.display()));
}

#[test]
fn an_agent_has_a_model_a_prompt_and_a_budget() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prompt.md");
    fs::write(&path, "Be brief.\n").unwrap();
    let text = format!(
        "[agents.a]\nmodel = 'x/y'\nprompt = 'file:{}'\ntemperature = 0\nlimits.cost = 0.5\n\
         [agents.b]\nprompt = ' Be long. '\nlimits.tokens = 5",
        path.display()
    );
    let config = read(&text);
    let (a, b) = (&config.agents["a"], &config.agents["b"]);
    assert_eq!(a.model.as_ref().unwrap().value, "x/y");
    assert_eq!(a.prompt.as_ref().unwrap().read().unwrap(), "Be brief.\n");
    assert_eq!(b.prompt.as_ref().unwrap().read().unwrap(), " Be long. ");
    assert_eq!(a.temperature.as_ref().unwrap().millionths(), 0);
    assert_eq!(a.limits.cost.as_ref().unwrap().millionths(), 500_000);
    let limits = &b.limits;
    assert_eq!((&limits.calls, limits.tokens.value, &limits.cost), (&None, 5, &None));
    assert_eq!(limits.time.value, Duration::from_hours(1));
    fs::write(&path, "x".repeat(300_000)).unwrap();
    let error = a.prompt.as_ref().unwrap().read().unwrap_err();
    assert!(error.to_string().contains("larger than"), "{error}");
}

#[test]
fn a_provider_is_what_is_different_about_it() {
    let config = read(
        "[providers.mine]\nbase_url = 'http://127.0.0.1:1/v1/'\nkey = 'k'\nheaders.X-Team = 'a b'\n\
         [providers.openai]",
    );
    let mine = &config.providers["mine"];
    assert_eq!(mine.base_url.as_ref().unwrap().as_str(), "http://127.0.0.1:1/v1");
    assert_eq!(&*mine.headers["X-Team"].value, "a b");
    assert_eq!((mine.timeout.value, mine.retries.value), (Duration::from_mins(2), 3));
    assert_eq!(config.providers["openai"], config::Provider::default());
}
