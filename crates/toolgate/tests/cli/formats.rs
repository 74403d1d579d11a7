//! `--format`, `check url` and `check schema`.

use std::fs;

use serde_json::{Value, json};

use crate::helper::{Machine, finish};

const URLS: &str = include_str!("../../../policy/tests/cases/urls.json");

#[test]
fn every_url_of_the_cases_is_judged_as_it_says() {
    let machine = Machine::new();
    let cases: Value = serde_json::from_str(URLS).unwrap();
    let cases = cases["cases"].as_array().unwrap();
    // What a redirect leads to needs real requests, which are in `world`.
    let expected = |case: &Value| match case["expected"].as_str().unwrap() {
        _ if case.get("redirects").is_some() => "allow",
        "allow" => "allow",
        _ => "deny",
    };
    let (named, plain): (Vec<_>, Vec<_>) = cases
        .iter()
        .filter(|case| case["category"] != "redirect")
        .partition(|case| case.get("dns").is_some());
    let lines: Vec<_> = plain.iter().map(|case| case["url"].to_string()).collect();
    let answers = machine.run_with(&["check", "url", "--stdin"], &lines.join("\n")).json_lines();
    assert_eq!(answers.len(), plain.len());
    for (case, answer) in plain.iter().zip(answers) {
        assert_eq!(answer["verdict"], expected(case), "{case} {answer}");
        assert_eq!(answer["input"], case["url"]);
    }
    for case in &named {
        let resolve = case["dns"].as_object().unwrap().iter().flat_map(|(host, addresses)| {
            let addresses = addresses.as_array().unwrap().iter().map(|ip| ip.as_str().unwrap());
            let addresses: Vec<_> = addresses.collect();
            ["--resolve".to_owned(), format!("{host}={}", addresses.join(","))]
        });
        let resolve: Vec<_> = resolve.collect();
        let mut args = vec!["check", "url", case["url"].as_str().unwrap(), "--json"];
        args.extend(resolve.iter().map(String::as_str));
        let answer = machine.run(&args).json();
        assert_eq!(answer["verdict"], expected(case), "{case} {answer}");
    }
    assert_eq!(plain.len() + named.len(), 139);
}

#[test]
fn a_url_is_judged_by_the_configuration() {
    let config =
        "[tools.web.network]\nallow = [\"*\", \"10.1.0.0/16\"]\ndeny = [\"evil.example\"]\n";
    let machine = Machine::configured(config);
    for (url, verdict, rule) in [
        ("https://example.org/", "allow", "network.allow"),
        ("https://evil.example/", "deny", "network.deny"),
        ("http://10.1.2.3/", "ask", "smart.private"),
        ("http://10.2.2.3/", "deny", "address.private"),
        ("ftp://example.org/", "deny", "url.scheme"),
    ] {
        let answer = machine.run(&["check", "url", url, "--json"]).json();
        assert_eq!((&answer["verdict"], &answer["rule"]), (&json!(verdict), &json!(rule)), "{url}");
        let call = json!({"tool": "http_request", "arguments": {"url": url}}).to_string();
        let called = machine.run(&["check", "call", &call, "--json"]).json();
        assert_eq!(called["verdict"], verdict, "{url}: {called}");
    }
    let wrong = machine.run(&["check", "url", "https://a.example/", "--resolve", "a.example=1.2"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("`1.2` is not an IP address"), "{wrong:?}");
}

#[test]
fn a_schema_is_shown_as_a_model_gets_it() {
    let machine = Machine::new();
    let schema =
        r#"{"type":"object","properties":{"a":{"const":"x"},"b":{"type":["string","null"]}}}"#;
    let answer = machine.run(&["check", "schema", schema, "--format", "gemini", "--json"]).json();
    assert_eq!(answer["input"]["properties"]["a"]["const"], "x");
    assert_eq!(answer["schema"]["properties"]["a"]["enum"], json!(["x"]));
    let lines = machine.run_with(
        &["check", "schema", "--stdin", "--format", "openai"],
        &format!("{schema}\nnot json\n"),
    );
    let lines = lines.json_lines();
    assert_eq!(lines[0]["schema"]["type"], "object");
    assert!(lines[1]["error"].as_str().unwrap().contains("not JSON"), "{lines:?}");
}

#[test]
fn definitions_and_answers_come_in_the_format_that_is_asked_for() {
    let machine = Machine::configured("[providers.my-vllm]\nformat = \"openai\"\n");
    machine.file("a.txt", "hello");
    for (format, name) in [
        ("openai", "/0/function/name"),
        ("my-vllm", "/0/function/name"),
        ("openai-responses", "/0/name"),
        ("anthropic", "/0/name"),
        ("gemini", "/0/functionDeclarations/0/name"),
        ("mcp", "/0/name"),
    ] {
        let tools = machine.run(&["tools", "--format", format]).json();
        assert_eq!(tools.pointer(name), Some(&json!("add_task")), "{format}");
        let one = machine.run(&["tools", "read_file", "--format", format]).stdout;
        assert!(one.contains("\"read\""), "{format}: {one}");
        let call = ["call", "read", r#"{"path":"a.txt"}"#, "--format", format];
        let answer = machine.run(&call);
        assert!(answer.code == 0 && answer.stdout.contains("hello"), "{format}: {answer:?}");
        assert!(!answer.stdout.contains("duration_ms"), "{format}: {answer:?}");
        let failed = machine.run(&["call", "read", r#"{"path":"b.txt"}"#, "--format", format]);
        assert!(failed.code == 1 && failed.stdout.contains("file_not_found"), "{failed:?}");
    }
    let wrong = machine.run(&["tools", "--format", "antropic"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("did you mean `anthropic`?"), "{wrong:?}");
}

#[test]
fn what_a_model_said_is_done_and_answered() {
    let machine = Machine::new();
    machine.file("a.txt", "hello");
    let message = json!({"role": "assistant", "content": [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.txt"}},
        {"type": "tool_use", "id": "t2", "name": "write", "input": {"path": "b.txt", "content": "x"}},
    ]});
    let ran = machine.run_with(&["call", "-", "--format", "anthropic"], &message.to_string());
    let answer = ran.json();
    assert_eq!((ran.code, &answer["role"]), (0, &json!("user")));
    assert_eq!(answer["content"][0]["tool_use_id"], "t1");
    assert_eq!(answer["content"][1]["tool_use_id"], "t2");
    assert_eq!(machine.content("b.txt").as_deref(), Some("x"));
    for (args, input, said) in [
        (&["call", "-"][..], "", "needs `--format`"),
        (&["call", "-", "--format", "openai"], "{", "cannot be read as JSON"),
        (&["call", "-", "--format", "openai"], "[1]", "must be"),
    ] {
        let ran = machine.run_with(args, input);
        assert!(ran.code == 2 && ran.stderr.contains(said), "{ran:?}");
    }
}

#[test]
fn a_file_that_changes_while_a_call_waits_holds_for_it() {
    let machine = Machine::configured("[tools]\nask = \"always\"\n");
    let (call, question) = machine.start_asking("write", &json!({"path": "a.txt", "content": "x"}));
    let config = machine.path("config/toolgate/toolgate.toml");
    fs::write(&config, "[tools]\nask = \"always\"\ndeny = [\"write\"]\n").unwrap();
    machine.until("the new file is taken over", || {
        machine.run(&["history", "--tool", "reload", "--json"]).stdout.contains("took over")
    });
    machine.run(&["approvals", "allow", question["id"].as_str().unwrap()]);
    let outcome = finish(call).json();
    assert_eq!(outcome["error_type"], "tool_not_available");
    assert_eq!(machine.content("a.txt"), None);
}

#[test]
fn json5_is_found_too_and_what_it_says_in_vain_is_said() {
    let machine = Machine::new();
    fs::write(
        machine.path("config/toolgate/toolgate.json5"),
        "{tools: {deny: ['read'], alsoAllow: ['read', 'cron'], ui: {}}}",
    )
    .unwrap();
    let ran = machine.run(&["tools"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    fs::write(
        machine.path("config/toolgate/toolgate.json5"),
        "{tools: {deny: ['read'], alsoAllow: ['read', 'cron']}}",
    )
    .unwrap();
    let ran = machine.run(&["tools"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let expected = "`read` is denied in the same place, so this does nothing";
    assert!(ran.stderr.contains(expected), "{ran:?}");
    assert!(ran.stderr.contains("toolgate.json5:1"), "{ran:?}");
}

/// A client of MCP may show its model nothing but the value, whoever writes the result down.
#[test]
fn of_a_value_a_model_gets_as_much_as_the_configuration_says() {
    for (most, all) in [(2_000, false), (200_000, true)] {
        let machine = Machine::configured(&format!("[limits]\nmodel_output_bytes = {most}\n"));
        for number in 0..300 {
            machine.file(&format!("{number:0>200}.txt"), "");
        }
        let args = json!({"pattern": "*.txt", "limit": 300});
        let by_name = machine.run(&["call", "glob", &args.to_string(), "--format", "mcp"]).json();
        let message =
            json!({"method": "tools/call", "params": {"name": "glob", "arguments": args}});
        let asked = ["call", "-", "--format", "mcp"];
        let by_model = machine.run_with(&asked, &message.to_string()).json();
        for result in [by_name, by_model] {
            let value = &result["structuredContent"];
            let count = value["paths"].as_array().map(Vec::len).unwrap_or_default();
            assert!(value.to_string().len() <= most, "{} bytes", value.to_string().len());
            assert_eq!((count == 300, result["isError"] == false), (all, true), "{count} {value}");
        }
    }
}
