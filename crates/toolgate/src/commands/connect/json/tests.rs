use serde_json::{Value, json};

use super::*;

const PATH: &[&str] = &["servers", "toolgate"];

fn entry() -> Map<String, Value> {
    json!({"command": "/bin/toolgate", "args": ["mcp"]}).as_object().unwrap().clone()
}

fn put_into(text: &str, dialect: Dialect) -> String {
    put(text, dialect, PATH, (&entry(), &["url"])).unwrap()
}

#[test]
fn a_new_file_is_made_whole() {
    let expected = r#"{
  "servers": {
    "toolgate": {
      "args": [
        "mcp"
      ],
      "command": "/bin/toolgate"
    }
  }
}
"#;
    for empty in ["", "\n", "{}\n", "{ }\n"] {
        assert_eq!(put_into(empty, Dialect::Json), expected, "{empty:?}");
    }
}

#[test]
fn comments_order_and_form_stay() {
    let text = "// mine\n{\n\t\"z\": 1, // last letter\n\t\"servers\": {\n\t\t\"a\": {}, // first\n\t\t/* second */\n\t\t\"b\": {\"x\": [1, 2]} // no comma\n\t}, /* end */\n\t\"a\": 'b',\n}\n";
    let new = put_into(text, Dialect::Json5);
    let expected = "// mine\n{\n\t\"z\": 1, // last letter\n\t\"servers\": {\n\t\t\"a\": {}, // first\n\t\t/* second */\n\t\t\"b\": {\"x\": [1, 2]}, // no comma\n\t\t\"toolgate\": {\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\"\n\t\t\t],\n\t\t\t\"command\": \"/bin/toolgate\"\n\t\t}\n\t}, /* end */\n\t\"a\": 'b',\n}\n";
    assert_eq!(new, expected);
    assert_eq!(put_into(&new, Dialect::Json5), new, "a second time changes nothing");
    assert_eq!(take(&new, Dialect::Json5, PATH).unwrap(), text, "and it can be taken out");
}

#[test]
fn whatever_the_form_it_goes_in_and_out_again() {
    for (text, dialect) in [
        ("{\"servers\": {\"a\": {}}}", Dialect::Json),
        ("{\"servers\": {}}", Dialect::Json),
        ("{\n  \"servers\": {}\n}", Dialect::Json),
        ("{\r\n  \"servers\": {\r\n    \"a\": 1\r\n  }\r\n}\r\n", Dialect::Json),
        ("{\n  \"servers\": {\n    \"a\": 1 }\n}\n", Dialect::Jsonc),
        ("{\n  \"servers\": {\n    \"a\": 1, // x\n  }\n}\n", Dialect::Jsonc),
        ("\u{feff}{\n  servers: { a: +1, 'b': 0xff, c: Infinity, },\n}\n", Dialect::Json5),
        ("{\n  \"servers\": {\n    // nothing yet\n  }\n}\n", Dialect::Jsonc),
    ] {
        let new = put_into(text, dialect);
        let found = get(&new, dialect, PATH).unwrap().unwrap();
        assert_eq!(found, Value::Object(entry()), "{text}\n{new}");
        let again = take(&new, dialect, PATH).unwrap();
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(bare(&again), bare(text), "{text}\n{new}\n{again}");
        assert_eq!(get(&again, dialect, &[]).unwrap(), get(text, dialect, &[]).unwrap());
    }
}

#[test]
fn keys_that_somebody_added_stay_and_those_that_contradict_go() {
    let text = "{\"servers\": {\"toolgate\": {\"url\": \"http://x\", \"timeout\": 5}}}";
    let new = put_into(text, Dialect::Json);
    let found = get(&new, Dialect::Json, PATH).unwrap().unwrap();
    assert_eq!(found, json!({"timeout": 5, "command": "/bin/toolgate", "args": ["mcp"]}));
}

#[test]
fn an_item_goes_in_and_out() {
    let ours = |item: &Value| item.get("id").is_some_and(|id| id == "toolgate");
    for text in ["{}", "{\"list\": []}", "{\n  \"list\": [\n    {\"id\": \"a\"}\n  ]\n}\n"] {
        let new = push(text, Dialect::Json, &["list"], &json!({"id": "toolgate"})).unwrap();
        let list = get(&new, Dialect::Json, &["list"]).unwrap().unwrap();
        assert_eq!(list.as_array().unwrap().last().unwrap(), &json!({"id": "toolgate"}));
        let again = drop_items(&new, Dialect::Json, &["list"], &ours).unwrap();
        let list = get(&again, Dialect::Json, &["list"]).unwrap().unwrap();
        assert!(!list.as_array().unwrap().iter().any(ours), "{again}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    for (text, dialect, line, column, message) in [
        ("[]", Dialect::Json, 1, 1, "expected `{`; the whole file is one object"),
        (
            "{\n // c\n}",
            Dialect::Json,
            2,
            2,
            "a comment, and this client reads JSON without comments",
        ),
        (
            "{\"a\": 1,}",
            Dialect::Json,
            1,
            9,
            "a comma before this, and this client reads none there",
        ),
        ("{\n  'a': 1}", Dialect::Jsonc, 2, 3, "expected double quotes"),
        ("{\n  a: 1}", Dialect::Jsonc, 2, 3, "expected a key in double quotes"),
        ("{\"a\": 1\n \"b\": 2}", Dialect::Json, 2, 2, "expected `,` or `}`"),
        ("{\"a\": 1", Dialect::Json5, 1, 1, "there is no `}` for this"),
        ("{\"a\": \"x\n\"}", Dialect::Json, 1, 7, "this text has no end"),
        ("{\"a\": 1, \"a\": 2}", Dialect::Json, 1, 10, "`a` stands here twice; keep one of them"),
        ("{\"servers\": []}", Dialect::Json, 1, 13, "`servers` is not an object"),
        ("{} {}", Dialect::Json, 1, 4, "expected nothing after the `}` of the whole file"),
    ] {
        let mistake = put(text, dialect, PATH, (&entry(), &[])).unwrap_err();
        assert_eq!(
            (mistake.position(text), mistake.message.as_str()),
            ((line, column), message),
            "{text}"
        );
    }
    let deep = format!("{}1{}", "{\"a\":".repeat(200), "}".repeat(200));
    assert_eq!(
        put(&deep, Dialect::Json, PATH, (&entry(), &[])).unwrap_err().message,
        "nested too deeply"
    );
}

proptest::proptest! {
    /// Whatever a file holds, nothing panics, and what can be changed says the same but for the entry.
    #[test]
    fn nothing_else_changes(text in r#"(\{|\}|\[|\]|:|,|"a"|"servers"|b|'c'|1|null| |\n|//x\n|/\*y\*/){0,24}"#) {
        for dialect in [Dialect::Json, Dialect::Jsonc, Dialect::Json5] {
            let Ok(new) = put(&text, dialect, PATH, (&entry(), &[])) else { continue };
            let found = get(&new, dialect, PATH).unwrap();
            proptest::prop_assert_eq!(found, Some(Value::Object(entry())));
            let again = take(&new, dialect, PATH).unwrap();
            proptest::prop_assert_eq!(get(&again, dialect, PATH).unwrap(), None);
        }
    }
}
