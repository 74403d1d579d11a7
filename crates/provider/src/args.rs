//! Arguments with the parameter names a tool knows.

use serde_json::Value;
use tool::ToolInfo;

use crate::{
    names::wire_key,
    schema::{DEPTH, target},
};

/// Gives parameters their own names back, where a definition had to call them something else.
pub fn arguments(tool: &ToolInfo, mut args: Value) -> Value {
    restore(&tool.parameters, &tool.parameters, &mut args, 0);
    args
}

/// Walks the schema and the value together; both are as deep as we let them be.
fn restore(root: &Value, schema: &Value, value: &mut Value, depth: usize) {
    if depth > DEPTH {
        return;
    }
    if let Some(target) = schema.get("$ref").and_then(Value::as_str).and_then(|at| target(root, at))
    {
        restore(root, target, value, depth + 1);
    }
    for key in ["allOf", "anyOf", "oneOf"] {
        for variant in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
            restore(root, variant, value, depth + 1);
        }
    }
    match value {
        Value::Object(object) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            for (name, inner) in properties.into_iter().flatten() {
                let wire = wire_key(name);
                if *wire != **name
                    && !object.contains_key(name)
                    && let Some(found) = object.remove(&*wire)
                {
                    object.insert(name.clone(), found);
                }
                if let Some(found) = object.get_mut(name) {
                    restore(root, inner, found, depth + 1);
                }
            }
        }
        Value::Array(items) => {
            let Some(inner) = schema.get("items") else { return };
            for item in items {
                restore(root, inner, item, depth + 1);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Format, schema};

    #[test]
    fn a_parameter_with_an_odd_name_comes_back_under_it() {
        let parameters = json!({
            "type": "object",
            "properties": {
                "$filter": {"type": "string"},
                "rows": {"type": "array", "items": {"$ref": "#/$defs/Row"}},
            },
            "$defs": {"Row": {"type": "object", "properties": {"größe": {"type": "number"}}}},
        });
        let tool = ToolInfo::new("query", "Query.", parameters.clone());
        let sent = schema(Format::Anthropic, &parameters);
        let filter = sent["properties"].as_object().unwrap().keys().next().unwrap().clone();
        let size = sent["$defs"]["Row"]["properties"].as_object().unwrap().keys().next().unwrap();
        assert!(filter.starts_with("_filter_") && size.starts_with("gr__e_"), "{filter} {size}");
        let args = json!({filter: "x", "rows": [{size: 1}]});
        assert_eq!(arguments(&tool, args), json!({"$filter": "x", "rows": [{"größe": 1}]}));
    }
}
