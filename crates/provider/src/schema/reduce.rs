//! The part of JSON Schema that Gemini takes: types, descriptions, enums of text, items,
//! properties, and unions.

use serde_json::{Value, json};

use super::{Schema, merge, root, tidy::has_type};

/// What every type may have. `minimum`, `pattern`, `format` and the like are checked by the gate.
const COMMON: [&str; 3] = ["description", "nullable", "type"];

/// Reduces a tidy schema without references.
pub(super) fn reduce(mut schema: Schema) -> Schema {
    absorb(&mut schema);
    if let Some(value) = schema.remove("const") {
        schema.entry("enum").or_insert(json!([value]));
    }
    let mut variants = root::variants(&schema, "anyOf");
    variants.extend(root::variants(&schema, "oneOf"));
    schema.remove("anyOf");
    schema.remove("oneOf");
    variants.retain(|variant| variant.get("type").is_none_or(|kind| kind != "null"));
    if root::is_object(&schema) {
        variants.iter_mut().for_each(root::flatten);
        merge::any_of(&mut schema, variants);
    } else if !variants.is_empty() {
        return union(schema, variants);
    }
    one_type(schema)
}

/// Puts what `allOf` says into the schema itself.
fn absorb(schema: &mut Schema) {
    let all = root::variants(schema, "allOf");
    schema.remove("allOf");
    for mut one in all {
        absorb(&mut one);
        merge::both(schema, one);
    }
}

/// A union of values is an enum, a union of one is that one.
fn union(mut schema: Schema, mut variants: Vec<Schema>) -> Schema {
    if let Some(values) = variants.iter().map(literals).collect::<Option<Vec<_>>>() {
        schema.insert("enum".to_owned(), values.concat().into());
        return one_type(schema);
    }
    if variants.len() == 1 {
        merge::both(&mut schema, variants.swap_remove(0));
        return reduce(schema);
    }
    // A type beside the union holds for each that has none.
    let shared = schema.remove("type");
    for variant in &mut variants {
        if !variant.keys().any(|key| matches!(key.as_str(), "type" | "anyOf" | "oneOf")) {
            variant.extend(shared.clone().map(|shared| ("type".to_owned(), shared)));
        }
    }
    any_of(schema, variants)
}

/// Nothing may stand beside a union, so each variant takes the description.
fn any_of(mut schema: Schema, variants: Vec<Schema>) -> Schema {
    let description = schema.remove("description");
    let mut reduced: Vec<Value> = Vec::new();
    for variant in variants {
        let mut variant = reduce(variant);
        // A union in a union is one union.
        let inner = match variant.remove("anyOf") {
            Some(Value::Array(inner)) => inner,
            _ => vec![variant.into()],
        };
        reduced.extend(inner.into_iter().filter(|one| !reduced.contains(one)).collect::<Vec<_>>());
    }
    for variant in reduced.iter_mut().filter_map(Value::as_object_mut) {
        if let Some(description) = &description {
            variant.entry("description").or_insert_with(|| description.clone());
        }
    }
    match (reduced.pop(), reduced.is_empty()) {
        (Some(Value::Object(only)), true) => only,
        (last, _) => {
            reduced.extend(last);
            Schema::from_iter([("anyOf".to_owned(), reduced.into())])
        }
    }
}

/// The values a schema allows, if it is nothing but a list of values.
fn literals(variant: &Schema) -> Option<Vec<Value>> {
    if let Some(value) = variant.get("const") {
        return Some(vec![value.clone()]);
    }
    variant.get("enum")?.as_array().cloned()
}

/// Splits a list of types; `null` is not one of them.
fn one_type(mut schema: Schema) -> Schema {
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|kind| kind != "null");
        let types = std::mem::take(types);
        let Some(first) = types.first() else { return scalar(schema) };
        if types.len() > 1 {
            let variants = types.iter().map(|kind| of_type(&schema, kind)).collect();
            return any_of(schema, variants);
        }
        schema.insert("type".to_owned(), first.clone());
    }
    if has_type(&schema, "object") {
        object(schema)
    } else if has_type(&schema, "array") {
        array(schema)
    } else {
        scalar(schema)
    }
}

/// What of a schema concerns this type.
fn of_type(schema: &Schema, kind: &Value) -> Schema {
    let concerns = |key: &str| match kind.as_str() {
        Some("object") => matches!(key, "properties" | "required"),
        Some("array") => matches!(key, "items" | "prefixItems"),
        Some("string") => key == "enum",
        _ => false,
    };
    let mut one: Schema = schema
        .iter()
        .filter(|(key, _)| concerns(key))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    one.insert("type".to_owned(), kind.clone());
    one
}

fn object(mut schema: Schema) -> Schema {
    root::declare_required(&mut schema);
    let required = match schema.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            let Value::Object(found) = property else { continue };
            // `null` for what may be left out means that it is left out: nothing to say.
            let nullable = admits_null(found) && required.iter().any(|one| one == name);
            let mut reduced = reduce(std::mem::take(found));
            if nullable && !reduced.contains_key("anyOf") {
                reduced.insert("nullable".to_owned(), Value::Bool(true));
            }
            *found = reduced;
        }
    }
    kept(schema, &["properties", "required"])
}

fn admits_null(schema: &Schema) -> bool {
    let union = ["anyOf", "oneOf"].iter().flat_map(|key| root::variants(schema, key));
    has_type(schema, "null") || union.into_iter().any(|variant| has_type(&variant, "null"))
}

fn array(mut schema: Schema) -> Schema {
    let places = root::variants(&schema, "prefixItems");
    let items = match schema.remove("items") {
        _ if !places.is_empty() => any_of(Schema::new(), places).into(),
        Some(Value::Object(items)) if !items.is_empty() => reduce(items).into(),
        // Nothing is known about them, and something must be said.
        _ => json!({"type": "string"}),
    };
    schema.insert("items".to_owned(), items);
    kept(schema, &["items"])
}

fn scalar(mut schema: Schema) -> Schema {
    if schema.get("type").is_some_and(|kind| kind == "null") {
        schema.insert("type".to_owned(), json!("string"));
        schema.insert("nullable".to_owned(), Value::Bool(true));
    }
    match schema.remove("enum") {
        Some(Value::Array(values)) => values_of(&mut schema, values),
        _ if schema.contains_key("type") => {}
        _ => return anything(schema),
    }
    kept(schema, &["enum"])
}

/// Only text can be enumerated; other values are named in the description.
fn values_of(schema: &mut Schema, mut values: Vec<Value>) {
    values.retain(|value| !value.is_null() && value != "");
    let implied = if values.iter().all(Value::is_boolean) {
        "boolean"
    } else if values.iter().all(|value| value.is_i64() || value.is_u64()) {
        "integer"
    } else if values.iter().all(Value::is_number) {
        "number"
    } else {
        "string"
    };
    let implied = if values.is_empty() { "string" } else { implied };
    let kind = schema.get("type").cloned().unwrap_or_else(|| json!(implied));
    let is_text = kind == "string";
    schema.insert("type".to_owned(), kind);
    let texts: Vec<String> = values.iter().map(crate::json::as_text).collect();
    if texts.is_empty() {
        return;
    }
    if is_text {
        schema.insert("enum".to_owned(), json!(texts));
    } else {
        let said = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        let said = format!("{said} One of: {}.", texts.join(", "));
        schema.insert("description".to_owned(), json!(said.trim()));
    }
}

/// Nothing is known, and a type must be named: all of them.
fn anything(schema: Schema) -> Schema {
    let types = ["string", "number", "boolean", "object"].map(|kind| json!({"type": kind}));
    let list = json!({"type": "array", "items": {"type": "string"}});
    let variants = types.iter().chain([&list]).filter_map(Value::as_object).cloned();
    any_of(schema, variants.collect())
}

fn kept(mut schema: Schema, own: &[&str]) -> Schema {
    schema.retain(|key, _| COMMON.contains(&key.as_str()) || own.contains(&key.as_str()));
    schema
}
