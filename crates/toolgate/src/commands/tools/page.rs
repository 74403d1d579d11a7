//! Everything about one tool, for people.

use std::time::Duration;

use gate::View;
use serde_json::{Map, Value, json};
use toolgate::ToolInfo;

use super::{Status, look};
use crate::{output, visible::visible};

/// The whole page.
pub(super) fn in_full(view: &View, info: &ToolInfo, status: &Status<'_>) -> String {
    let mut lines = vec![format!("{}  {}", output::bold(&info.name), visible(&info.label))];
    lines.push(String::new());
    lines.extend(info.description.lines().map(visible));
    lines.extend(section("Parameters", parameters(&info.parameters)));
    lines.extend(section("Facts", facts(info, status)));
    lines.extend(section("Depends on", needs(view, info)));
    lines.join("\n")
}

/// Lines under a heading; none without lines.
fn section(title: &str, lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return lines;
    }
    let heading = [String::new(), output::bold(title)];
    heading.into_iter().chain(lines.into_iter().map(|line| format!("  {line}"))).collect()
}

fn parameters(schema: &Value) -> Vec<String> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let mut lines = Vec::new();
    for (name, property) in properties {
        let needed = if is_required(name) { ", required" } else { "" };
        lines.push(format!("{} ({}{needed})", output::bold(&visible(name)), kind(property)));
        let about = property.get("description").and_then(Value::as_str).unwrap_or_default();
        lines.extend(about.lines().map(|line| format!("    {}", visible(line))));
    }
    lines
}

/// The type of a parameter in a few words.
fn kind(schema: &Value) -> String {
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(other) => other.to_string(),
        None => "any".to_owned(),
    };
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        let values: Vec<_> = values.iter().map(ToString::to_string).collect();
        return format!("{name}: {}", visible(&values.join(" | ")));
    }
    match schema.get("items") {
        Some(items) => format!("{name} of {}", kind(items)),
        None => name,
    }
}

fn facts(info: &ToolInfo, status: &Status<'_>) -> Vec<String> {
    let rate = info.rate.map(|rate| format!("{} calls per {}", rate.calls, seconds(rate.per)));
    let cache = info.cache.map(|cache| format!("results for {}", seconds(cache)));
    let facts = [
        ("status", status.shown()),
        ("effects", info.effects.to_string()),
        ("section", info.section.to_string()),
        ("profiles", names(&json!(info.profiles))),
        ("aliases", info.aliases.join(", ")),
        ("timeout", seconds(info.timeout)),
        ("rate", rate.unwrap_or_default()),
        ("uses", names(&json!(info.uses))),
        ("programs", info.requires.programs.join(", ")),
        ("platforms", info.requires.platforms.join(", ")),
        ("cache", cache.unwrap_or_default()),
        ("for", if info.owner_only { "the owner only".to_owned() } else { String::new() }),
        ("version", info.version.clone()),
    ];
    let known = facts.into_iter().filter(|(_, value)| !value.is_empty());
    known.map(|(name, value)| format!("{name:<10} {}", visible(&value))).collect()
}

/// The names of a list, as programs know them.
fn names(list: &Value) -> String {
    let names: Vec<_> = list.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    names.join(", ")
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// What it depends on, and beneath each what that depends on.
fn needs(view: &View, info: &ToolInfo) -> Vec<String> {
    let mut lines = Vec::new();
    for (needed, status) in info.depends.iter().filter_map(|name| look(view, name)) {
        lines.push(format!("{} ({})", needed.name, status.shown()));
        lines.extend(needs(view, needed).into_iter().map(|line| format!("  {line}")));
    }
    lines
}
