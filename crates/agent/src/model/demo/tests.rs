//! What is said to the demo, and what it does.

use provider::ModelMessage;

use super::*;

const ALL: &[&str] = &[
    "get_current_time",
    "read",
    "ls",
    "write",
    "add_task",
    "list_tasks",
    "complete_task",
    "save_note",
    "search_notes",
    "exec",
    "web_fetch",
    "grep",
    "sessions_spawn",
    "web_search",
    "canvas",
];

/// What the demo does first: its calls, or what it says.
fn first(request: &str, tools: &[&str]) -> String {
    shown(&answer(&[Message::user(request)], &owned(tools)))
}

fn owned(tools: &[&str]) -> Vec<String> {
    tools.iter().map(|tool| (*tool).to_owned()).collect()
}

fn shown(answer: &Assembled) -> String {
    let call = |call: &WireCall| format!("{} {}", call.name, call.args.as_ref().unwrap());
    let calls: Vec<_> = answer.calls.iter().map(call).collect();
    if calls.is_empty() { answer.text.clone() } else { calls.join(" | ") }
}

/// Plays a whole conversation: each call gets its answer from `tool`. What was called, and what is said at
/// the end.
fn play(
    request: &str,
    tools: &[&str],
    tool: impl Fn(&WireCall) -> Result<String, String>,
) -> (Vec<String>, String) {
    let (mut messages, mut called) = (vec![Message::user(request)], Vec::new());
    for _ in 0..20 {
        let said = answer(&messages, &owned(tools));
        if said.calls.is_empty() {
            return (called, said.text);
        }
        called.push(shown(&said));
        let results = said.calls.iter().map(|call| {
            let (text, is_error) = match tool(call) {
                Ok(text) => (text, false),
                Err(text) => (text, true),
            };
            let (id, name) = (call.id.clone(), Some(call.name.clone()));
            provider::WireResult {
                id,
                name,
                blocks: vec![Block::Text(text)],
                structured: None,
                is_error,
            }
        });
        let results = results.collect();
        messages.push(Message::Model(ModelMessage::new("demo", provider::Format::OpenAi, said)));
        messages.push(Message::Results(results));
    }
    panic!("it does not end: {called:?}");
}

#[test]
fn plain_requests_become_calls() {
    for (request, expected) in [
        ("what time is it", r#"get_current_time {}"#),
        ("What time is it in Tokyo?", r#"get_current_time {"timezone":"Asia/Tokyo"}"#),
        (
            "what's the time in Europe/Berlin please",
            r#"get_current_time {"timezone":"Europe/Berlin"}"#,
        ),
        ("Could you please tell me the current time?", r#"get_current_time {}"#),
        ("read notes.txt", r#"read {"path":"notes.txt"}"#),
        ("Please read the file ./a/b.md.", r#"read {"path":"./a/b.md"}"#),
        ("READ `my notes.txt`", r#"read {"path":"my notes.txt"}"#),
        ("show me README.md", r#"read {"path":"README.md"}"#),
        ("what is in Cargo.toml?", r#"read {"path":"Cargo.toml"}"#),
        ("read /etc/hosts", r#"read {"path":"/etc/hosts"}"#),
        ("list files", r#"ls {"path":"."}"#),
        ("list the files in src", r#"ls {"path":"src"}"#),
        ("What files are there?", r#"ls {"path":"."}"#),
        ("ls", r#"ls {"path":"."}"#),
        ("ls crates/agent", r#"ls {"path":"crates/agent"}"#),
        ("write hello to a.txt", r#"write {"path":"a.txt","content":"hello"}"#),
        ("write \"hello to you\" to a.txt", r#"write {"path":"a.txt","content":"hello to you"}"#),
        ("write a and b to c.txt", r#"write {"path":"c.txt","content":"a and b"}"#),
        (
            "append 'x.' to the file a.txt",
            r#"write {"path":"a.txt","content":"x.","mode":"append"}"#,
        ),
        (
            "save TODO: nothing! to list.md",
            r#"write {"path":"list.md","content":"TODO: nothing!"}"#,
        ),
        ("add a task buy milk", r#"add_task {"title":"buy milk"}"#),
        (
            "Add a task: Buy milk due 2030-01-31.",
            r#"add_task {"title":"Buy milk","due_date":"2030-01-31"}"#,
        ),
        (
            "create a new task to call Ada due on 2030-02-01T10:00",
            r#"add_task {"title":"call Ada","due_date":"2030-02-01T10:00"}"#,
        ),
        ("remind me to sleep", r#"add_task {"title":"sleep"}"#),
        ("list tasks", r#"list_tasks {"status":"all","limit":50}"#),
        ("Show my open tasks", r#"list_tasks {"status":"pending","limit":50}"#),
        ("what tasks are done?", r#"list_tasks {"status":"completed","limit":50}"#),
        (
            "save a note Wifi: on the fridge",
            r#"save_note {"title":"Wifi","content":"on the fridge"}"#,
        ),
        (
            "note: the door is open",
            r#"save_note {"title":"the door is open","content":"the door is open"}"#,
        ),
        ("search notes for wifi", r#"search_notes {"query":"wifi"}"#),
        ("Find my notes about the door", r#"search_notes {"query":"the door"}"#),
        ("list my notes", r#"search_notes {"query":"*"}"#),
        ("run ls -la | wc -l", r#"exec {"command":"ls -la | wc -l"}"#),
        ("run `echo hi.`", r#"exec {"command":"echo hi."}"#),
        ("$ git status", r#"exec {"command":"git status"}"#),
        ("fetch example.org", r#"web_fetch {"url":"https://example.org"}"#),
        ("open https://example.org/a?b=c", r#"web_fetch {"url":"https://example.org/a?b=c"}"#),
        ("search for fn main", r#"grep {"pattern":"fn main"}"#),
        ("grep TODO in src", r#"grep {"pattern":"TODO","path":"src"}"#),
        ("search for \"fn .* in\"", r#"grep {"pattern":"fn .* in"}"#),
        ("search the web for tea", r#"web_search {"query":"tea"}"#),
        ("spawn an agent to count the files", r#"sessions_spawn {"task":"count the files"}"#),
        ("/canvas {\"action\": \"hide\"}", r#"canvas {"action":"hide"}"#),
        ("/list_tasks", r#"list_tasks {}"#),
        ("complete task milk", r#"list_tasks {"status":"pending","limit":1000}"#),
        ("mark buy milk as done", r#"list_tasks {"status":"pending","limit":1000}"#),
    ] {
        let sorted = |text: &str| {
            let (tool, args) = text.split_once(' ').unwrap();
            (tool.to_owned(), serde_json::from_str::<Value>(args).unwrap())
        };
        let found = first(request, ALL);
        assert!(found.contains('{'), "{request}: {found}");
        assert_eq!(sorted(&found), sorted(expected), "{request}");
    }
}

#[test]
fn parts_are_done_one_after_the_other_or_at_once() {
    let ok = |call: &WireCall| Ok(format!("what {} gave", call.name));
    for (request, expected) in [
        ("read a and then read b", vec![r#"read {"path":"a"}"#, r#"read {"path":"b"}"#]),
        (
            "read a, then ls\nls src",
            vec![r#"read {"path":"a"}"#, r#"ls {"path":"."}"#, r#"ls {"path":"src"}"#],
        ),
        ("read a and also read b", vec![r#"read {"path":"a"} | read {"path":"b"}"#]),
        (
            "read a AND ALSO ls and then read b",
            vec![r#"read {"path":"a"} | ls {"path":"."}"#, r#"read {"path":"b"}"#],
        ),
        ("1. nothing", vec![]),
        ("- read a\n- read b", vec![r#"read {"path":"a"}"#, r#"read {"path":"b"}"#]),
        (
            "write \"one and then two\" to a and then read a",
            vec![r#"write {"content":"one and then two","path":"a"}"#, r#"read {"path":"a"}"#],
        ),
        (
            "/write {\"path\": \"a\",\n \"content\": \"x and then y\"}\nread a and also /ls {\"path\":\"b\"} and then ls",
            vec![
                r#"write {"content":"x and then y","path":"a"}"#,
                r#"read {"path":"a"} | ls {"path":"b"}"#,
                r#"ls {"path":"."}"#,
            ],
        ),
    ] {
        let (called, _) = play(request, ALL, ok);
        let ordered = |calls: &str| -> Vec<(String, Value)> {
            let parts = calls.split(" | ").filter_map(|call| call.split_once(' '));
            parts
                .map(|(tool, args)| (tool.to_owned(), serde_json::from_str(args).unwrap()))
                .collect()
        };
        let found: Vec<_> = called.iter().map(|calls| ordered(calls)).collect();
        let expected: Vec<_> = expected.iter().map(|calls| ordered(calls)).collect();
        assert_eq!(found, expected, "{request}");
    }
}

#[test]
fn what_came_of_it_is_said() {
    let tasks = r#"{"tasks":[{"id":"t1","title":"Buy milk","due_date":"2030-01-31","status":"pending","priority":"high"},{"id":"t2","title":"Sleep","due_date":null,"status":"completed","priority":"medium"}]}"#;
    for (request, result, expected) in [
        ("what time is it", Ok("2030-01-31T10:00:00Z"), "It is 2030-01-31T10:00:00Z."),
        ("time in Paris", Ok("10:00"), "In Europe/Paris it is 10:00."),
        ("read a", Ok("one\ntwo\n"), "`a` says:\none\ntwo"),
        ("read a", Ok(""), "`a` says nothing."),
        (
            "read a",
            Err("file_not_found: there is no file `a`"),
            "`read` failed: there is no file `a`",
        ),
        (
            "run rm x",
            Err("permission_denied: nobody agreed"),
            "`exec` was not allowed: nobody agreed",
        ),
        ("write x to a", Ok("wrote 1 byte"), "I wrote `a`."),
        ("add a task x due 2030-01-31", Ok("{}"), "I added the task `x`, due 2030-01-31."),
        ("list tasks", Ok(r#"{"tasks":[]}"#), "There are no such tasks."),
        (
            "list tasks",
            Ok(tasks),
            "The tasks:\n- Buy milk (due 2030-01-31, high)\n- Sleep (completed)",
        ),
        ("list tasks", Ok("something else"), "The tasks:\nsomething else"),
        ("save a note A: b", Ok("{}"), "I saved the note `A`."),
        (
            "search notes for a",
            Ok(r#"{"notes":[{"title":"A","content":"b"}]}"#),
            "The notes:\n- A: b",
        ),
        ("search notes for a", Ok(r#"{"notes":[]}"#), "There is no note about `a`."),
        (
            "spawn an agent to sing",
            Ok("{}"),
            "I started an agent for that; you are told when it is done.",
        ),
        ("/canvas {}", Ok("{\"x\":1}"), "`canvas` gave:\n{\"x\":1}"),
    ] {
        let answer = |_: &WireCall| result.map(str::to_owned).map_err(str::to_owned);
        assert_eq!(play(request, ALL, answer).1, expected, "{request}");
    }
    let long = play("read a", ALL, |_| Ok("x".repeat(100_000))).1;
    assert!(long.len() < 2_100 && long.ends_with('…'), "{}", long.len());
}

#[test]
fn a_task_is_completed_by_its_title_or_its_id() {
    let tasks = r#"{"tasks":[{"id":"t1","title":"Buy milk"},{"id":"t2","title":"Buy bread"},{"id":"t3","title":"Buy"}]}"#;
    for (which, called, said) in [
        ("buy milk", Some("t1"), "The task `buy milk` is done."),
        ("bread", Some("t2"), "The task `bread` is done."),
        ("T1", Some("t1"), "The task `T1` is done."),
        ("\"Buy\"", Some("t3"), "The task `Buy` is done."),
        ("uy", None, "More than one task is like `uy`; say which:\n- Buy milk\n- Buy bread\n- Buy"),
        ("nothing", None, "There is no open task `nothing`."),
    ] {
        let (calls, text) = play(&format!("complete task {which}"), ALL, |call| {
            Ok(if call.name == "list_tasks" { tasks.to_owned() } else { "{}".to_owned() })
        });
        let last = calls.get(1).cloned();
        let expected = called.map(|id| format!("complete_task {{\"task_id\":\"{id}\"}}"));
        assert_eq!((last, text.as_str()), (expected, said), "{which}");
    }
    // Without a list it must be the id.
    let (calls, _) = play("complete task t9", &["complete_task"], |_| Ok("{}".to_owned()));
    assert_eq!(calls, [r#"complete_task {"task_id":"t9"}"#]);
}

#[test]
fn what_fails_ends_the_chain() {
    let (called, said) =
        play("read a and then read b", ALL, |_| Err("file_not_found: no `a`".into()));
    assert_eq!(called.len(), 1);
    assert_eq!(said, "`read` failed: no `a`\n\nI stopped there.");
    let (called, said) = play("read a and also ls", ALL, |call| match call.name.as_str() {
        "read" => Err("file_not_found: no `a`".to_owned()),
        _ => Ok("b".to_owned()),
    });
    assert_eq!(called.len(), 1);
    assert_eq!(said, "`read` failed: no `a`\n\nIn `.` there is:\nb");
}

#[test]
fn a_tool_that_is_not_there_is_named_and_nothing_else_is_tried() {
    let said = first("run ls", &["read"]);
    assert!(
        said.starts_with("I would use the tool `exec` for that, but this agent does not have it")
    );
    assert!(said.contains("`toolgate policy explain exec`"), "{said}");
    assert!(first("/canvas {}", &[]).contains("`canvas`"));
    assert!(first("read a and also run ls", &["read"]).contains("`exec`"));
    // Where a page cannot be fetched, a request may do.
    assert_eq!(
        first("fetch https://a.example", &["http_request"]),
        r#"http_request {"url":"https://a.example"}"#
    );
}

#[test]
fn it_says_what_it_is() {
    for request in ["hello", "Help!", "hi there", "what can you do?", "", "   ", "Who are you"] {
        let said = first(request, &["read", "exec"]);
        assert!(
            said.starts_with("I am the small demo that is built into Toolgate"),
            "{request}: {said}"
        );
        for part in
            ["not a language model", "- read notes.txt", "- run cargo", "`ANTHROPIC_API_KEY`"]
        {
            assert!(said.contains(part), "{said}");
        }
        assert!(!said.contains("list my tasks"), "only what it has the tools for");
    }
    let said = first("write me a poem about the sea", ALL);
    assert!(
        said.starts_with("I do not understand \"write me a poem about the sea\". I am the small")
    );
    let said = first("read a and then dance with me", ALL);
    assert!(
        said.starts_with("I do not understand \"dance with me\", so I have done nothing"),
        "{said}"
    );
    assert!(
        first("/write {\"path\": }", ALL).starts_with("What follows `/write` is not a JSON object")
    );
    assert!(answer(&[], &[]).text.starts_with("I am the small demo"));
}

#[test]
fn only_what_was_said_last_counts_and_ids_are_never_used_twice() {
    let mut messages = vec![Message::user("read a")];
    let one = answer(&messages, &owned(ALL));
    messages.push(Message::Model(ModelMessage::new("demo", provider::Format::OpenAi, one.clone())));
    messages.push(Message::Results(Vec::new()));
    messages.push(Message::Model(ModelMessage::text("done")));
    messages.push(Message::user("read a"));
    let two = answer(&messages, &owned(ALL));
    assert_eq!(shown(&one), shown(&two));
    assert_ne!(one.calls[0].id, two.calls[0].id);
    assert_eq!(two, answer(&messages, &owned(ALL)), "the same again");
}

#[test]
fn nothing_that_is_said_can_break_it() {
    for request in [
        "\"",
        "`",
        "/",
        "//",
        "/x",
        "/x {",
        "/x {\"a\":1}}",
        "read \"",
        "write to",
        "write x to ",
        " to x",
        "read ü and then lösche ß",
        "ÄÖÜ and also ÄÖÜ",
        "run",
        "add a task",
        "complete task",
        "mark as done",
        "search for",
        "\n\n\n",
        "and then and then",
        "a and also",
        "due due due",
        "add a task due 2030-01-01",
        "what time is it in ",
        "note:",
        ":",
        "🙂 and then 🙂",
    ] {
        for tools in [ALL, &[]] {
            let said = answer(&[Message::user(request)], &owned(tools));
            assert!(!said.text.is_empty() || !said.calls.is_empty(), "{request}");
        }
    }
    let many = "read a\n".repeat(1_000);
    assert_eq!(first(&many, ALL), r#"read {"path":"a"}"#);
}

#[tokio::test]
async fn it_speaks_word_by_word() {
    let read = tool::ToolInfo::new("read", "Reads a file.", json!({"type": "object"}));
    let tools = provider::Definitions::default().list(provider::Format::OpenAi, &[read.into()]);
    let (messages, options) = ([Message::user("hello")], provider::Options::default());
    let prompt = Prompt {
        provider: "demo",
        model: "demo",
        system: None,
        messages: &messages,
        tools: Some(&tools),
        options: &options,
    };
    let mut pieces = Vec::new();
    let answer = stream(&prompt, &mut |piece| pieces.push(piece.to_owned())).await;
    assert!(pieces.len() > 20);
    assert_eq!(pieces.concat(), answer.text);
    assert!(answer.text.contains("read notes.txt"), "the tools are those of the definitions");
    assert_eq!(answer.message, json!({"role": "assistant", "content": answer.text}));
}
