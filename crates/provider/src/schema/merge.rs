//! Two schemas as one.

use serde_json::{Value, json};

use super::Schema;

/// What matches both: parameters and requirements of each. Where they disagree the first wins.
pub(super) fn both(into: &mut Schema, from: Schema) {
    for (key, value) in from {
        match (into.get_mut(&key), value) {
            (None, value) => drop(into.insert(key, value)),
            (Some(Value::Object(into)), Value::Object(from)) if key == "properties" => {
                for (name, schema) in from {
                    property(into, name, schema, both);
                }
            }
            (Some(Value::Array(into)), Value::Array(from)) if key == "required" => {
                into.extend(
                    from.into_iter().filter(|name| !into.contains(name)).collect::<Vec<_>>(),
                );
            }
            (Some(Value::Array(into)), Value::Array(from)) if key == "enum" => {
                into.retain(|value| from.contains(value));
            }
            (Some(_), _) => {}
        }
    }
}

/// Adds to `into` what any of these objects has; required is only what all of them require.
pub(super) fn any_of(into: &mut Schema, variants: Vec<Schema>) {
    let mut required: Option<Vec<Value>> = None;
    let mut properties = Schema::new();
    for mut variant in variants {
        let names = match variant.remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        required = Some(match required {
            None => names,
            Some(kept) => kept.into_iter().filter(|name| names.contains(name)).collect(),
        });
        if let Some(Value::Object(found)) = variant.remove("properties") {
            for (name, schema) in found {
                property(&mut properties, name, schema, either);
            }
        }
    }
    let mut joined = Schema::new();
    if !properties.is_empty() {
        joined.insert("properties".to_owned(), properties.into());
    }
    if let Some(required) = required.filter(|required| !required.is_empty()) {
        joined.insert("required".to_owned(), required.into());
    }
    both(into, joined);
}

fn property(into: &mut Schema, name: String, schema: Value, join: fn(&mut Schema, Schema)) {
    match (into.get_mut(&name), schema) {
        (Some(Value::Object(one)), Value::Object(other)) if *one != other => join(one, other),
        (Some(_), _) => {}
        (None, schema) => drop(into.insert(name, schema)),
    }
}

/// What matches one or the other.
fn either(into: &mut Schema, other: Schema) {
    let only_variants = into.len() == 1;
    if let Some(Value::Array(variants)) = into.get_mut("anyOf").filter(|_| only_variants) {
        let other = Value::Object(other);
        if !variants.contains(&other) {
            variants.push(other);
        }
        return;
    }
    let one = std::mem::take(into);
    into.insert("anyOf".to_owned(), json!([one, other]));
}
