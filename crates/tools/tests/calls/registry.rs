//! What must be true of every tool.

use serde_json::Value;

#[test]
fn every_tool_and_parameter_is_described() {
    for tool in tools::builtin() {
        let info = tool.info();
        assert!(info.description.len() > 20, "{} has no description", info.name);
        let snake = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(info.name.chars().all(snake), "{}", info.name);
        assert_eq!(info.parameters["type"], "object", "{}", info.name);
        described(&info.name, &info.parameters);
        if let Some(output) = &info.output {
            described(&format!("output of {}", info.name), output);
        }
    }
}

fn described(place: &str, schema: &Value) {
    let Some(properties) = schema["properties"].as_object() else { return };
    assert!(properties.len() <= 20, "{place}");
    for (name, property) in properties {
        let place = format!("{place}.{name}");
        assert!(property["description"].as_str().is_some_and(|text| text.len() > 3), "{place}");
        described(&place, property);
        described(&place, &property["items"]);
    }
}

#[test]
fn schemas_are_plain() {
    for tool in tools::builtin() {
        for schema in [Some(&tool.info().parameters), tool.info().output.as_ref()] {
            let text = schema.map(ToString::to_string).unwrap_or_default();
            for word in ["anyOf", "oneOf", "allOf", "null", "$ref", "$defs"] {
                assert!(!text.contains(&format!("\"{word}\"")), "{}: {text}", tool.info().name);
            }
        }
    }
}

#[test]
fn names_and_aliases_are_unique_and_in_order() {
    let tools = tools::builtin();
    let mut names: Vec<&str> = tools.iter().map(|tool| &*tool.info().name).collect();
    let expected = "agents_list gateway apply_patch edit glob grep ls read stat write save_note \
                    search_notes exec process session_status sessions_history sessions_list \
                    sessions_send sessions_spawn subagents add_task complete_task list_tasks \
                    update_task get_current_time http_request";
    assert_eq!(names.join(" "), expected);
    names.extend(tools.iter().flat_map(|tool| tool.info().aliases.iter().map(String::as_str)));
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn what_facts_name_exists() {
    for tool in tools::builtin() {
        let info = tool.info();
        let has = |name: &String| info.parameters["properties"].get(name).is_some();
        let meant = info.parameter_aliases.iter().map(|(_, name)| name);
        for name in meant.chain(&info.large) {
            assert!(has(name), "{} has no parameter `{name}`", info.name);
        }
    }
}
