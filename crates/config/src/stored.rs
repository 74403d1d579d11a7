//! Agents that are kept elsewhere than in a file.

use serde_json::{Map, Value as Json, json};
use tool::Rate;

use crate::{
    Agent, Budget, Config, ConfigError, ConfigProblem, Layer, Names, Prompt,
    node::{Entry, Node, Position, Value},
    openclaw,
    problems::Problems,
    walk,
};

/// The longest name of an agent.
const MAX_ID: usize = 64;

/// The settings stand in no file, so problems and values have no line.
const NO_LINE: Position = Position { line: 0, column: 0 };

/// The agent that `settings` describe with the keys of `agents.<id>`, checked as in a file.
pub fn stored_agent(id: &str, settings: &Json) -> Result<Agent, ConfigError> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(fits) {
        let id: String = id.chars().take(MAX_ID).collect();
        let message =
            format!("`{id}` cannot be the name of an agent: use letters, digits, `_` and `-`");
        let (key, file) = ("agents".to_owned(), "the agent".into());
        return Err(ConfigError::new(vec![ConfigProblem {
            file,
            line: 0,
            column: 0,
            key,
            message,
        }]));
    }
    let mut problems = Problems::new(&format!("agent `{id}`"));
    let entries = openclaw::translate(entries(&json!({"agents": {id: settings}})), &mut problems);
    let mut config = Config::default();
    walk::fill(&mut config, &entries, &mut problems);
    let mut config = problems.or(config)?.config;
    Ok(config.agents.remove(id).unwrap_or_default())
}

/// What is set for `agent`, with the keys of `agents.<id>`; what is as by default is left out.
pub fn agent_settings(agent: &Agent) -> Map<String, Json> {
    let Agent {
        description,
        model,
        prompt,
        max_tokens,
        temperature,
        limits,
        subagents,
        sessions,
        workspace,
        tools,
    } = agent;
    let Budget { calls, tokens, cost, time, at_once, rate } = limits;
    let usual = Budget::default();
    let layer = |layer: Layer| {
        let Layer { profile, allow, also_allow, deny } = layer;
        table([
            ("profile", profile.map(|profile| json!(profile.value.name()))),
            ("allow", allow.as_ref().map(list)),
            ("also_allow", also_allow.as_ref().map(list)),
            ("deny", deny.as_ref().map(list)),
        ])
    };
    let mut own_tools = layer(tools.layer());
    let providers: Map<_, _> = tools
        .by_provider
        .iter()
        .map(|(name, rules)| (name.clone(), Json::Object(layer(rules.clone()))))
        .collect();
    own_tools.extend(table([("by_provider", filled(providers))]));
    let limits = table([
        ("calls", calls.as_ref().map(|calls| json!(calls.value))),
        ("tokens", (*tokens != usual.tokens).then(|| json!(tokens.value))),
        ("cost", cost.as_ref().map(|cost| json!(cost.value.as_f64()))),
        ("time", (*time != usual.time).then(|| json!(format!("{}ms", time.value.as_millis())))),
        ("at_once", at_once.as_ref().map(|count| json!(count.value))),
        ("rate", rate.as_ref().map(|rate| json!(shown_rate(rate.value)))),
    ]);
    table([
        ("description", description.as_ref().map(|text| json!(text.value.to_string()))),
        ("model", model.as_ref().map(|model| json!(model.value))),
        ("prompt", prompt.as_ref().map(|prompt| json!(shown_prompt(&prompt.value)))),
        ("max_tokens", max_tokens.as_ref().map(|count| json!(count.value))),
        ("temperature", temperature.as_ref().map(|set| json!(set.value.as_f64()))),
        ("subagents", subagents.as_ref().map(list)),
        ("sessions", sessions.as_ref().map(list)),
        ("workspace", workspace.as_ref().map(|folder| json!(folder.value))),
        ("limits", filled(limits)),
        ("tools", filled(own_tools)),
    ])
}

fn table<const N: usize>(fields: [(&str, Option<Json>); N]) -> Map<String, Json> {
    let set = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    set.collect()
}

fn filled(fields: Map<String, Json>) -> Option<Json> {
    (!fields.is_empty()).then_some(Json::Object(fields))
}

fn list(names: &Names) -> Json {
    names.iter().map(|name| Json::from(name.value.as_str())).collect()
}

fn shown_prompt(prompt: &Prompt) -> String {
    match prompt {
        Prompt::Text(text) => text.clone(),
        Prompt::File(path) => format!("file:{}", path.display()),
    }
}

fn shown_rate(rate: Rate) -> String {
    let unit = match rate.per.as_secs() {
        60 => "min",
        3_600 => "h",
        86_400 => "day",
        // The parser knows no other.
        _ => "s",
    };
    format!("{}/{unit}", rate.calls)
}

fn entries(json: &Json) -> Vec<Entry> {
    let Json::Object(fields) = json else { return Vec::new() };
    let entry = |(name, json): (&String, &Json)| Entry {
        name: name.clone(),
        position: NO_LINE,
        node: node(json),
    };
    fields.iter().map(entry).collect()
}

fn node(json: &Json) -> Node {
    let value = match json {
        Json::Null => Value::Other("null"),
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(integer), _) => Value::Integer(integer),
            (None, Some(float)) => Value::Float(float),
            (None, None) => Value::Other("a number that is too large"),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(node).collect()),
        Json::Object(_) => Value::Table(entries(json)),
    };
    Node { value, position: NO_LINE }
}
