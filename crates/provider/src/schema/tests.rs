//! What becomes of schemas.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// One property, as `format` has it.
fn property(format: Format, property: &Value) -> Value {
    let whole = json!({"type": "object", "properties": {"it": property}});
    schema(format, &whole)["properties"]["it"].clone()
}

#[test]
fn gemini_gets_what_it_knows() {
    let any = |types: &[&str]| -> Vec<Value> { types.iter().map(|t| json!({"type": t})).collect() };
    for (given, expected) in [
        (
            json!({"type": "string", "minLength": 1, "maxLength": 9, "pattern": "x", "format": "date", "examples": ["a"], "not": {"const": "z"}, "title": "T", "default": "d", "x-odd": 1}),
            json!({"type": "string"}),
        ),
        (
            json!({"type": "integer", "minimum": 1, "maximum": 9, "multipleOf": 2}),
            json!({"type": "integer"}),
        ),
        (json!({"const": "a"}), json!({"type": "string", "enum": ["a"]})),
        (json!({"type": ["string", "null"]}), json!({"type": "string"})),
        (json!({"type": ["string", "integer"]}), json!({"anyOf": any(&["string", "integer"])})),
        (json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!({"type": "integer"})),
        (
            json!({"oneOf": [{"const": "a"}, {"enum": ["b", "c"]}, {"type": "null"}], "description": "D"}),
            json!({"type": "string", "enum": ["a", "b", "c"], "description": "D"}),
        ),
        (
            json!({"type": "string", "enum": ["a", "", null, "a"]}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (json!({"enum": [1, 2]}), json!({"type": "integer", "description": "One of: 1, 2."})),
        (json!({"enum": ["a", 1]}), json!({"type": "string", "enum": ["a", "1"]})),
        (json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
        (
            json!({"type": "tuple", "items": [{"type": "int"}, {"type": "str"}], "minItems": 2, "uniqueItems": true}),
            json!({"type": "array", "items": {"anyOf": any(&["integer", "string"])}}),
        ),
        (
            json!({"allOf": [{"properties": {"a": {"type": "str"}}, "required": ["a", "b"]}, {"allOf": [{"properties": {"c": {"type": "float"}}}]}]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "c": {"type": "number"}}, "required": ["a"]}),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "string"}, "patternProperties": {}, "minProperties": 1}),
            json!({"type": "object"}),
        ),
        (json!({"$ref": "#/nowhere"}), property(Format::Gemini, &json!({}))),
        (json!({"$ref": "https://example.org/x"}), property(Format::Gemini, &json!(true))),
        (json!("integer"), json!({"type": "integer"})),
        (json!({"type": "string[]"}), json!({"type": "array", "items": {"type": "string"}})),
    ] {
        assert_eq!(property(Format::Gemini, &given), expected, "{given}");
    }
}

#[test]
fn others_get_json_schema() {
    for (given, expected) in [
        (json!({"type": "dict"}), json!({"type": "object"})),
        (json!({"type": "List[str]"}), json!({"type": "array", "items": {}})),
        (json!({"type": "HashMap"}), json!({"type": "object"})),
        (json!({"type": "any", "description": "D"}), json!({"description": "D"})),
        (json!({"type": "wombat"}), json!({})),
        (json!({"type": ["str", "none", "string"]}), json!({"type": ["string", "null"]})),
        (json!(true), json!({})),
        (json!(false), json!(null)),
        (
            json!({"type": "string", "required": true, "minLength": -1, "enum": []}),
            json!({"type": "string"}),
        ),
        (json!({"type": "integer", "enum": [1, 1]}), json!({"type": "integer", "enum": [1]})),
        (
            json!({"$id": "x", "$schema": "y", "type": "string", "format": "date"}),
            json!({"type": "string", "format": "date"}),
        ),
    ] {
        assert_eq!(property(Format::OpenAi, &given), expected, "{given}");
    }
}

#[test]
fn the_root_is_an_object_whatever_it_was() {
    let empty = json!({"type": "object", "properties": {}});
    for (given, expected) in [
        (json!(null), empty.clone()),
        (json!(true), empty.clone()),
        (json!([]), empty.clone()),
        (json!({}), empty.clone()),
        (json!({"type": ["object", "null"], "enum": [{}]}), empty.clone()),
        (json!({"type": "any", "required": ["x"], "not": {}}), empty),
        (
            json!({"type": "string"}),
            json!({"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"type": "object", "properties": {"value": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}, "required": ["value"]}),
        ),
        (
            json!({"oneOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}], "$defs": {
                "A": {"type": "object", "properties": {"kind": {"const": "a"}, "x": {"type": "int"}}, "required": ["kind", "x"]},
                "B": {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"]},
            }}),
            json!({"type": "object", "properties": {"kind": {"anyOf": [{"const": "a"}, {"const": "b"}]}, "x": {"type": "integer"}}, "required": ["kind"]}),
        ),
    ] {
        let mut found = schema(Format::Anthropic, &given);
        found.as_object_mut().unwrap().remove("$defs");
        assert_eq!(found, expected, "{given}");
    }
}

#[test]
fn clients_of_mcp_get_all_of_json_schema() {
    let whole = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$defs": {"a": {"$anchor": "a", "type": "object", "properties": {}}},
        "type": "object",
        "properties": {
            "a": {"$ref": "#/$defs/a"},
            "b": {"type": "string", "x-mcp-header": "B", "writeOnly": true},
        },
        "allOf": [{"anyOf": [{"required": ["a"]}, {"required": ["b"]}]}],
        "if": {"required": ["a"]},
        "then": {"required": ["b"]},
        "else": {"required": ["b", "c"]},
        "unevaluatedProperties": false,
    });
    assert_eq!(schema(Format::Mcp, &whole), whole);
    let odd = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": "https://example.org/",
        "$anchor": "not a name",
        "properties": {"a": {"$ref": "https://example.org/a", "$schema": 1, "readOnly": "yes"}},
    });
    let expected = json!({"type": "object", "properties": {"a": {}}});
    assert_eq!(schema(Format::Mcp, &odd), expected);
}

#[test]
fn a_small_schema_that_means_a_huge_one_stays_small() {
    let mut definitions = Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        let text = "x".repeat(10_000);
        definitions.insert(
            format!("d{n}"),
            json!({"type": "object", "description": text, "properties": {"a": next, "b": next}}),
        );
    }
    let mut bomb = json!({"properties": {"a": {"$ref": "#/$defs/d0"}}});
    bomb["$defs"] = definitions.into();
    let mut deep = json!({"type": "string"});
    for _ in 0..2_000 {
        deep = json!({"type": "object", "properties": {"a": deep}, "anyOf": [{"type": "array"}]});
    }
    for given in [&bomb, &deep, &json!({"$ref": "#"}), &json!({"allOf": [{"$ref": "#"}]})] {
        for format in Format::ALL {
            assert!(schema(format, given).to_string().len() < 8_000_000);
        }
    }
}

/// JSON that looks like a schema, and often is not one.
fn any_schema() -> impl Strategy<Value = Value> {
    let types = "string|str|int|float|dict|tuple|any|null|array|object|wombat|integer\\[\\]|";
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
        any::<i8>().prop_map(Value::from),
        types.prop_map(Value::from),
        "#(/(\\$defs|properties|definitions)/[ab.])?".prop_map(Value::from),
    ];
    let keys = "type|\\$ref|\\$defs|definitions|properties|items|prefixItems|anyOf|oneOf|allOf|not|\
                enum|const|required|additionalProperties|minLength|minimum|pattern|description|\
                nullable|default|if|[ab]|\\$x|a\\.b|\\$anchor|\\$schema|x-y|dependentSchemas|\
                unevaluatedProperties|minContains";
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys, inner), 0..5)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

/// Only what Gemini knows, with a type everywhere.
fn assert_gemini(schema: &Value) {
    let object = schema.as_object().unwrap();
    let known =
        ["anyOf", "description", "enum", "items", "nullable", "properties", "required", "type"];
    assert!(object.keys().all(|key| known.contains(&key.as_str())), "{schema}");
    match object.get("type").map(|kind| kind.as_str().unwrap()) {
        None => assert!(object.len() == 1 && object.contains_key("anyOf"), "{schema}"),
        Some("array") => assert!(object.contains_key("items"), "{schema}"),
        Some(kind) => assert!(
            ["string", "integer", "number", "boolean", "object"].contains(&kind),
            "{schema}"
        ),
    }
    assert!(!object.contains_key("enum") || object["type"] == "string", "{schema}");
    let inner = object.get("properties").and_then(Value::as_object).into_iter().flatten();
    inner.for_each(|(_, inner)| assert_gemini(inner));
    object.get("items").into_iter().for_each(assert_gemini);
    object.get("anyOf").and_then(Value::as_array).into_iter().flatten().for_each(assert_gemini);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_in_a_schema_comes_out(given in any_schema()) {
        for format in Format::ALL {
            let found = schema(format, &given);
            prop_assert!(jsonschema::draft202012::meta::is_valid(&found), "{} {} {}", format, given, found);
            prop_assert_eq!(&found["type"], "object");
            prop_assert!(found["properties"].is_object());
            if format == Format::Gemini {
                assert_gemini(&found);
            } else {
                prop_assert_eq!(&schema(format, &found), &found, "{} {}", format, given);
            }
        }
    }
}
