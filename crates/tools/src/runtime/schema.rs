//! One schema for a result that has several forms.

use serde_json::{Map, Value, json};

/// Has the properties of all forms; required is what all require. Providers take no `anyOf`.
pub(crate) fn any_of(forms: &[Value]) -> Value {
    let mut properties = Map::new();
    for (name, schema) in forms.iter().filter_map(|form| form["properties"].as_object()).flatten() {
        properties.entry(name).or_insert_with(|| schema.clone());
    }
    let requires = |form: &Value, name: &str| {
        form["required"].as_array().into_iter().flatten().any(|required| required == name)
    };
    let required: Vec<String> =
        properties.keys().filter(|name| forms.iter().all(|f| requires(f, name))).cloned().collect();
    json!({ "type": "object", "properties": properties, "required": required })
}
