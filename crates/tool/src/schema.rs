//! JSON Schemas as every provider accepts them.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The schema of `T`, made plain by [`plain_schema`].
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain_schema(&mut schema);
    schema
}

/// Takes out what Rust types bring along and providers refuse: `null` variants, enums written as
/// `oneOf`, titles, integer formats.
pub fn plain_schema(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(plain_schema),
        Value::Object(object) => {
            flatten(object);
            object.retain(|key, value| !noise(key, value));
            drop_null(object);
            join_lines(object);
            for (key, value) in object.iter_mut() {
                if key == "properties" {
                    // Names of parameters are not keywords.
                    value.as_object_mut().into_iter().flatten().for_each(|(_, v)| plain_schema(v));
                } else if !matches!(key.as_str(), "enum" | "const" | "default" | "examples") {
                    plain_schema(value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn noise(key: &str, value: &Value) -> bool {
    key == "title" && value.is_string()
        || key == "format"
            && value.as_str().is_some_and(|name| name.starts_with(['u', 'i', 'd', 'f']))
        || key == "default" && value.is_null()
        || key == "$schema"
}

/// `{"type": ["string", "null"]}` is `{"type": "string"}`: what is optional may be left out.
fn drop_null(object: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
}

/// Where a doc comment was broken means nothing; an empty line does.
fn join_lines(object: &mut Map<String, Value>) {
    if let Some(Value::String(text)) = object.get_mut("description") {
        let paragraphs = text.split("\n\n").map(|paragraph| paragraph.replace('\n', " "));
        *text = paragraphs.collect::<Vec<_>>().join("\n\n");
    }
}

/// A union of constants is an enum, and a union with `null` is its other half.
fn flatten(object: &mut Map<String, Value>) {
    for key in ["oneOf", "anyOf"] {
        let Some(Value::Array(variants)) = object.get(key) else { continue };
        let mut variants = variants.clone();
        variants.retain(|variant| variant.get("type").is_none_or(|kind| kind != "null"));
        let constants: Option<Vec<Value>> = variants
            .iter()
            .map(constants)
            .collect::<Option<Vec<_>>>()
            .map(|lists| lists.into_iter().flatten().collect());
        let replacement = match (constants, variants.as_slice()) {
            (Some(values), _) if values.iter().all(Value::is_string) && !values.is_empty() => {
                serde_json::json!({"type": "string", "enum": values})
            }
            (_, [Value::Object(_)]) => variants.swap_remove(0),
            _ => continue,
        };
        object.remove(key);
        let Value::Object(mut inner) = replacement else { continue };
        // The description of the field says more than that of its type.
        inner.retain(|name, _| !object.contains_key(name));
        object.append(&mut inner);
        flatten(object);
        return;
    }
}

fn constants(variant: &Value) -> Option<Vec<Value>> {
    if let Some(value) = variant.get("const") {
        return Some(vec![value.clone()]);
    }
    variant.get("enum")?.as_array().cloned()
}

#[cfg(test)]
mod tests {
    use schemars::JsonSchema;
    use serde_json::json;

    use super::schema_of;

    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Mode {
        /// Replace it.
        Overwrite,
        /// Add to it.
        Append,
    }

    /// Do a thing.
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Arguments {
        /// How.
        mode: Option<Mode>,
        /// How much.
        #[serde(default)]
        limit: Option<u64>,
        /// A parameter may be named like a keyword.
        title: Option<String>,
    }

    #[test]
    fn is_plain_enough_for_every_provider() {
        assert_eq!(
            schema_of::<Arguments>(),
            json!({
                "description": "Do a thing.",
                "type": "object",
                "properties": {
                    "mode": {"description": "How.", "type": "string", "enum": ["overwrite", "append"]},
                    "limit": {"description": "How much.", "type": "integer", "minimum": 0},
                    "title": {"description": "A parameter may be named like a keyword.", "type": "string"},
                },
            })
        );
    }
}
