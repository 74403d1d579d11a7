//! The root of a schema: an object with properties, whatever it was.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{Schema, merge, tidy::has_type};

/// Keywords that no provider takes at the root.
const NOT_AT_ROOT: [&str; 10] =
    ["anyOf", "oneOf", "not", "enum", "const", "if", "then", "else", "nullable", "default"];

/// Arguments are an object. Variants of it become one object with the parameters of all, and what
/// is not an object becomes its parameter `value`.
pub(super) fn object(mut schema: Schema) -> Schema {
    let definitions: Vec<_> =
        ["$defs", "definitions"].iter().filter_map(|key| schema.remove_entry(*key)).collect();
    flatten(&mut schema);
    let mut root = if is_something_else(&schema) { wrap(&schema) } else { schema };
    for key in NOT_AT_ROOT {
        root.remove(key);
    }
    root.insert("type".to_owned(), json!("object"));
    root.entry("properties").or_insert_with(|| json!({}));
    declare_required(&mut root);
    root.extend(definitions);
    root
}

/// The same for whoever takes all of JSON Schema: an object stays as it is.
pub(super) fn whole(mut schema: Schema) -> Schema {
    if !is_object(&schema) {
        return object(schema);
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.entry("properties").or_insert_with(|| json!({}));
    declare_required(&mut schema);
    schema
}

/// Puts what `allOf`, `anyOf` and `oneOf` say about an object into the object itself.
pub(super) fn flatten(schema: &mut Schema) {
    for key in ["allOf", "anyOf", "oneOf"] {
        let mut variants = variants(schema, key);
        variants.iter_mut().for_each(flatten);
        if key == "allOf" {
            schema.remove(key);
            for variant in variants {
                merge::both(schema, variant);
            }
        } else if is_object(schema) || variants.iter().any(is_object) {
            schema.remove(key);
            merge::any_of(schema, variants);
        }
    }
}

/// The schemas under `key`.
pub(super) fn variants(schema: &Schema, key: &str) -> Vec<Schema> {
    let list = schema.get(key).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_object).cloned().collect()
}

/// Whether it describes an object, among others perhaps.
pub(super) fn is_object(schema: &Schema) -> bool {
    has_type(schema, "object") || schema.contains_key("properties")
}

fn is_something_else(schema: &Schema) -> bool {
    let says = ["type", "anyOf", "oneOf", "enum", "const"];
    !is_object(schema) && says.iter().any(|key| schema.contains_key(*key))
}

fn wrap(schema: &Schema) -> Schema {
    let mut root = Schema::new();
    root.insert("properties".to_owned(), json!({"value": schema}));
    root.insert("required".to_owned(), json!(["value"]));
    root
}

/// What is required must be a parameter.
pub(super) fn declare_required(schema: &mut Schema) {
    let properties = schema.get("properties").and_then(Value::as_object);
    let declared: HashSet<String> =
        properties.into_iter().flat_map(|properties| properties.keys().cloned()).collect();
    let Some(Value::Array(required)) = schema.get_mut("required") else { return };
    required.retain(|name| name.as_str().is_some_and(|name| declared.contains(name)));
    if required.is_empty() {
        schema.remove("required");
    }
}
