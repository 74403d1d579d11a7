//! `sessions`: conversations, as their owner looks at them.

use crate::helper::Machine;

fn talked() -> Machine {
    let machine = Machine::new();
    machine.file("hello.txt", "hello\n");
    for (session, text) in [("first", "read hello.txt"), ("second", "what time is it?")] {
        let ran = machine.run(&["chat", "--session", session, "--message", text, "--json"]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    machine
}

#[test]
fn conversations_are_listed_shown_and_forgotten() {
    let machine = talked();
    let list = machine.run(&["sessions", "list", "--json"]).json();
    let keys: Vec<_> = list.as_array().unwrap().iter().map(|one| &one["sessionKey"]).collect();
    assert_eq!(keys, ["agent:main:second", "agent:main:first"]);
    assert_eq!((&list[0]["user"], &list[0]["state"]), (&"owner".into(), &"idle".into()));
    let table = machine.run(&["sessions", "list", "--search", "irst"]).stdout;
    assert!(table.contains("agent:main:first") && !table.contains("second"), "{table}");
    for nothing in [["--user", "ada"], ["--agent", "other"], ["--kind", "child"]] {
        let ran = machine.run(&[&["sessions", "list", "--json"][..], &nothing[..]].concat());
        assert_eq!(ran.stdout, "[]\n", "{nothing:?}");
    }
    let page = machine.run(&["sessions", "show", "agent:main:first", "--tools"]).stdout;
    for part in ["agent:main:first", "state     idle", "read hello.txt", "→ read {", "hello\n"] {
        assert!(page.contains(part), "{part} in {page}");
    }
    let page = machine.run(&["sessions", "show", "first"]).stdout;
    assert!(page.contains("read hello.txt") && !page.contains('→'), "{page}");
    let shown = machine.run(&["sessions", "show", "first", "--limit", "1", "--json"]).json();
    let last = shown["last_messages"].as_array().unwrap();
    assert_eq!((last.len(), &last[0]["role"]), (1, &"assistant".into()), "{shown}");
    let ran = machine.run(&["sessions", "remove", "first"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "Session `agent:main:first` is forgotten.\n"));
    assert_eq!(machine.run(&["sessions", "list", "--json"]).json().as_array().unwrap().len(), 1);
    // Its calls are still in the journal.
    let history = machine.run(&["history", "--tool", "read", "--json"]).json();
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
}

#[test]
fn a_conversation_that_is_not_there_is_said_with_the_nearest() {
    let machine = talked();
    for (args, expected) in [
        (
            &["sessions", "show", "frist"][..],
            "`owner` has no session `agent:main:frist`; did you mean `agent:main:first`?",
        ),
        (&["sessions", "remove", "agent:other:zzzz"], "`toolgate sessions list` shows them"),
        (&["sessions", "show", "a:b"], "`a:b` is not a session; write `agent:AGENT:NAME`"),
        (&["sessions", "show", "first", "--user", "ada"], "`ada` has no session"),
    ] {
        let ran = machine.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
    }
}

#[test]
fn secrets_are_not_shown() {
    let machine = Machine::new();
    let secret = machine.path("secret");
    std::fs::write(&secret, "swordfish-4711\n").unwrap();
    let config = format!("[secrets]\nkey = \"file:{}\"\n", secret.display());
    std::fs::write(machine.path("config/toolgate/toolgate.toml"), config).unwrap();
    machine.file("plan.txt", "the word is swordfish-4711.\n");
    assert_eq!(machine.run(&["chat", "--message", "read plan.txt", "--json"]).code, 0);
    let shown = machine.run(&["sessions", "show", "main", "--tools"]).stdout;
    assert!(shown.contains("the word is") && !shown.contains("swordfish-4711"), "{shown}");
}
