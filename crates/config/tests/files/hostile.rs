//! Nothing in a file can bring the process down.

use std::{
    iter::repeat_n,
    time::{Duration, Instant},
};

use config::{keys, parse, parse_with_warnings};
use proptest::prelude::*;

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        for file in ["any.toml", "any.json5"] {
            let _ = parse_with_warnings(&text, file).map_err(|error| error.to_string());
        }
    }

    #[test]
    fn anything_that_looks_like_json5_is_read_or_refused(
        parts in prop::collection::vec(json_part(), 0..24),
    ) {
        let text = format!("{{{}}}", parts.concat());
        if let Err(error) = parse(&text, "any.json5") {
            prop_assert!(!error.problems().is_empty());
            let last = u32::try_from(text.matches('\n').count()).unwrap() + 1;
            prop_assert!(error.problems().iter().all(|problem| (1..=last).contains(&problem.line)));
        }
    }

    #[test]
    fn anything_that_looks_like_a_file_is_read_or_refused(
        lines in prop::collection::vec((key(), value()), 0..8),
    ) {
        let lines: Vec<_> = lines.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        let text = lines.join("\n");
        if let Err(error) = parse(&text, "any.toml") {
            prop_assert!(!error.problems().is_empty());
            let last = u32::try_from(text.lines().count()).unwrap() + 1;
            prop_assert!(error.problems().iter().all(|problem| (1..=last).contains(&problem.line)));
        }
    }
}

fn key() -> impl Strategy<Value = String> {
    let known = prop::sample::select(keys()).prop_map(|key| key.path.replace(['<', '>'], ""));
    prop_oneof![known, "[a-zA-Z_.\"']{0,12}", "\\[[a-z.]{0,8}\\]#"]
}

fn json_part() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(
            &[
                "{", "}", "[", "]", ":", ",", "'", "\"", "\\", "/*", "*/", "//", "\n", "\\u",
                "\u{feff}"
            ][..]
        )
        .prop_map(str::to_owned),
        prop::sample::select(keys())
            .prop_flat_map(|key| prop::sample::select(key.path.split('.').collect::<Vec<_>>()))
            .prop_map(|part| format!("'{part}': ")),
        "(tools|agents|list|sandbox|id|deny|\\$schema): ?[\\[{]?",
        "[-+]?[0-9.eExX]{0,6}|-?Infinity|NaN|true|null",
        "'[^'\\n]{0,6}',?",
        any::<String>(),
    ]
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        any::<f64>().prop_map(|number| number.to_string()),
        "'[0-9]{0,22}[ a-zA-Z/:~]{0,5}'",
        "\\[('[a-z]{0,3}', ?){0,3}[0-9\\[\\]]{0,2}\\]",
        "[{}\\[\\]'\"=,.a-z0-9]{0,16}",
    ]
}

#[test]
fn a_long_line_is_read_in_no_time() {
    let started = Instant::now();
    let text = format!("tools.deny = [{}7]", "'x',".repeat(250_000));
    let error = parse(&text, "long.toml").unwrap_err().to_string();
    assert_eq!(error, "long.toml:1: `tools.deny`: expected a name such as `read`, got `7`");
    let text = format!("{{tools:{{deny:[{}7]}}}}", "'x',".repeat(250_000));
    let error = parse(&text, "long.json5").unwrap_err().to_string();
    assert_eq!(error, "long.json5:1: `tools.deny`: expected a name such as `read`, got `7`");
    let keys: Vec<_> = (0..100_000).map(|number| format!("a{number}:1,")).collect();
    let text = format!("{{{}}}", keys.concat());
    assert_eq!(parse(&text, "long.json5").unwrap_err().problems().len(), 100);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn deep_nesting_is_refused() {
    let keys = |count: usize| repeat_n("a", count).collect::<Vec<_>>().join(".");
    for text in [
        format!("{} = 1", keys(100_000)),
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}", "{a=".repeat(100_000)),
        format!("[{}]", keys(100_000)),
    ] {
        parse(&text, "deep.toml").unwrap_err();
    }
    for open in ["[", "{a:", "{a:[", "/*", "{", "{'", "{a:'\\"] {
        parse(&open.repeat(100_000), "deep.json5").unwrap_err();
        parse(&format!("{{a:{}", open.repeat(100_000)), "deep.json5").unwrap_err();
    }
    let open = format!("{{ {} = ", keys(79));
    let text = format!("{0} = {1}1{2}", keys(79), open.repeat(78), "}".repeat(78));
    parse(&text, "deep.toml").unwrap_err();
}
