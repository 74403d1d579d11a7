//! Names of types, as people and other languages write them.

use serde_json::{Value, json};

use super::Schema;

/// The names JSON Schema has, and what else means the same.
const TYPES: &[(&str, &[&str])] = &[
    (
        "string",
        &[
            "string",
            "str",
            "text",
            "char",
            "character",
            "varchar",
            "date",
            "datetime",
            "time",
            "timestamp",
            "uuid",
            "url",
            "uri",
            "email",
            "path",
            "file",
            "bytes",
            "binary",
            "enum",
            "literal",
            "password",
        ],
    ),
    (
        "integer",
        &[
            "integer", "int", "long", "short", "byte", "bigint", "int32", "int64", "uint",
            "uint32", "uint64",
        ],
    ),
    ("number", &["number", "float", "double", "decimal", "numeric", "real", "float32", "float64"]),
    ("boolean", &["boolean", "bool"]),
    (
        "array",
        &[
            "array",
            "list",
            "tuple",
            "set",
            "arraylist",
            "vector",
            "sequence",
            "iterable",
            "frozenset",
        ],
    ),
    (
        "object",
        &[
            "object",
            "dict",
            "dictionary",
            "map",
            "mapping",
            "hashmap",
            "hashtable",
            "struct",
            "record",
            "json",
        ],
    ),
    ("null", &["null", "none", "nonetype", "nil", "void", "undefined"]),
];

/// The JSON Schema type that `name` means, if it means one; `any` and what nobody knows do not.
pub(super) fn canonical(name: &str) -> Option<&'static str> {
    let name = name.trim().to_lowercase();
    // `List[str]`, `Map<String, Int>`: what is inside is not said with a type name here.
    let head = name.split(['[', '<', '(', ' ']).next().unwrap_or_default();
    TYPES.iter().find(|(_, names)| names.contains(&head)).map(|(canonical, _)| *canonical)
}

/// Writes what `value`, the type of a schema, says into `schema`.
pub(super) fn write(value: &Value, schema: &mut Schema) {
    let mut types: Vec<&'static str> = Vec::new();
    for name in value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice) {
        let Some(name) = name.as_str() else { continue };
        if let Some(item) = name.trim().strip_suffix("[]") {
            let items = canonical(item).map_or_else(|| json!({}), |item| json!({"type": item}));
            schema.entry("items").or_insert(items);
        }
        let found = if name.trim().ends_with("[]") { Some("array") } else { canonical(name) };
        // One name that means anything makes the whole list mean anything.
        let Some(found) = found else { return };
        if !types.contains(&found) {
            types.push(found);
        }
    }
    match types.as_slice() {
        [] => {}
        [only] => drop(schema.insert("type".to_owned(), json!(only))),
        _ => drop(schema.insert("type".to_owned(), json!(types))),
    }
}
