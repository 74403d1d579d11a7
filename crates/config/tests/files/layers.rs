//! The rules of every layer.

use config::{Config, Layer, ProfileName, Tools, names};

use crate::read;

const RULES: &str = "profile = 'coding'\nallow = []\nalso_allow = ['exec']\ndeny = ['write']";
const LISTS: &str = "allow = []\nalso_allow = ['exec']\ndeny = ['write']";

fn lists() -> Layer {
    let allow = Some(names(<[&str; 0]>::default()));
    let (also_allow, deny) = (Some(names(["exec"])), Some(names(["write"])));
    Layer { profile: None, allow, also_allow, deny }
}

fn rules() -> Layer {
    Layer { profile: Some(ProfileName::Coding.into()), ..lists() }
}

#[test]
fn each_layer_has_its_place() {
    type Place = fn(&Config) -> Layer;
    let places: [(&str, &str, Layer, Place); 8] = [
        ("tools", RULES, rules(), |c| c.tools.layer()),
        ("tools.by_provider.Acme", RULES, rules(), |c| c.tools.by_provider["Acme"].clone()),
        ("tools.by_channel.slack", RULES, rules(), |c| c.tools.by_channel["slack"].clone()),
        ("tools.by_sender.'id:7'", RULES, rules(), |c| c.tools.by_sender["id:7"].clone()),
        ("tools.sandbox", LISTS, lists(), |c| c.tools.sandbox.clone()),
        ("tools.subagents", LISTS, lists(), |c| c.tools.subagents.clone()),
        ("agents.a.tools", RULES, rules(), |c| c.agents["a"].tools.layer()),
        ("agents.a.tools.by_provider.'x.ai'", RULES, rules(), |c| {
            c.agents["a"].tools.by_provider["x.ai"].clone()
        }),
    ];
    for (table, text, expected, place) in &places {
        let config = read(&format!("[{table}]\n{text}"));
        assert_eq!(&place(&config), expected, "{table}");
        let deny = place(&config).deny.unwrap();
        let line = u32::try_from(text.lines().count()).unwrap() + 1;
        assert_eq!(deny.value[0].at.as_ref().unwrap().line, line, "{table}");
    }
    let all: Vec<_> = places.iter().map(|(table, text, ..)| format!("[{table}]\n{text}")).collect();
    let config = read(&all.join("\n"));
    for (table, _, expected, place) in &places {
        assert_eq!(&place(&config), expected, "{table}, with all others");
    }
}

#[test]
fn two_names_in_a_key_are_kept_apart() {
    let config =
        read("[agents.a.tools.by_provider]\nx.deny = ['read']\ny.deny = ['ls']\n[agents.b]");
    let providers = |agent: &str| {
        let layers = &config.agents[agent].tools.by_provider;
        layers.keys().map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!((providers("a"), providers("b")), (vec!["x", "y"], vec![]));
    assert!(config.tools.by_provider.is_empty());
}

#[test]
fn an_empty_table_says_nothing() {
    for text in ["agents.a.tools.by_provider = {}", "tools.by_provider = {}", "tools.sandbox = {}"]
    {
        let config = read(text);
        assert_eq!(config.tools, Tools::default(), "{text}");
        assert!(config.agents.values().all(|agent| agent.tools.by_provider.is_empty()), "{text}");
    }
    let config = read("tools.by_provider.x = {}\nagents.a.tools.by_provider.y = {}");
    assert!(config.tools.by_provider["x"].is_empty());
    assert!(config.agents["a"].tools.by_provider["y"].is_empty());
    assert!(!lists().is_empty() && Layer::default().is_empty());
    assert!(!Layer { allow: Some(names(<[&str; 0]>::default())), ..Layer::default() }.is_empty());
}

#[test]
fn a_sandbox_has_no_profile() {
    let message = crate::refused("tools.sandbox.profile = 'full'");
    assert!(message.contains("unknown key `tools.sandbox.profile`"), "{message}");
}

#[test]
fn every_profile_has_its_name() {
    for profile in ProfileName::ALL {
        let config = read(&format!("tools.profile = '{}'", profile.name()));
        assert_eq!(config.tools.profile.unwrap().value, profile);
    }
    assert_eq!(read("").tools.max_depth.value, 3);
    assert_eq!(read("tools.subagents.max_depth = 1").tools.max_depth.value, 1);
}
