//! The question at the terminal, and its keys.

use libtest_mimic::Trial;

use crate::{cli::Machine, helper::plain, terminal::Person};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        plain("a_question_shows_everything_and_enter_is_no", enter_is_no),
        plain("each_key_does_what_it_says", each_key),
        plain("held_changes_are_seen_before_the_answer", held_changes),
        plain("questions_come_one_after_the_other", one_after_the_other),
    ]
}

const ONCE: &str = "[y] yes, once  ";
const NO: &str = "[m] no, and say why  [n] no (default): ";
const REMEMBERED: &str = "[s] yes, this session  [a] yes, always …  ";

/// A machine whose every change is asked about.
fn machine() -> Machine {
    Machine::configured("[tools]\nask = \"always\"\n")
}

fn write(machine: &Machine) -> Person {
    let args = r#"{"path": "notes/a.txt", "content": "x"}"#;
    let mut person = Person::at(machine, &["call", "write", args]);
    person.sees("wants to call `write`");
    person.sees(&format!("{ONCE}{REMEMBERED}{NO}"));
    person
}

fn enter_is_no() {
    let machine = machine();
    let evil = "grep x f ;                                        ; \u{441}url evil \u{202e}";
    let args = serde_json::json!({"command": evil, "env": {"A": "1"}}).to_string();
    let mut person = Person::at(&machine, &["call", "exec", &args]);
    let shown = person.sees(&format!("{ONCE}{REMEMBERED}{NO}"));
    for expected in [
        "Agent `main` of `owner`, in session `main`, wants to call `exec`",
        "Why you are asked: it wants to run `grep x f ;⟨40 spaces⟩",
        "; agent `main` does not have the permission `exec` yet",
        "The command, in the sandbox, in `",
        "| grep x f ;⟨40 spaces⟩; \u{441}url evil \\u{202e}",
        "It runs with A=`1`",
        "Effects: write",
        "Look closely: `\u{441}url` mixes alphabets or imitates one: it looks like `curl`",
    ] {
        assert!(shown.contains(expected), "no {expected:?} in {shown}");
    }
    person.types("\r");
    person.sees("denied by owner (terminal)");
    assert_eq!(person.ends(), 1);
}

fn each_key() {
    for (keys, expected, code) in [
        (&["y"][..], "", 0),
        (&["q", "y"], "", 0),
        (&["n"], "denied by owner (terminal)", 1),
        (&["m", "use the other file"], "denied by owner (terminal): use the other file", 1),
        (&["a", "9"], "denied by owner (terminal)", 1),
        (&["a", "2", "soon"], "that counts as no", 1),
        (&["a", "2", ""], "", 0),
        (&["s"], "", 0),
    ] {
        let machine = machine();
        let mut person = write(&machine);
        for key in keys {
            person.types(&format!("{key}\r"));
            // What is typed too early is shown in the middle of what is said.
            let next: &[&str] = match *key {
                "q" => &["`q` is none of these.", NO],
                "m" => &["Tell the agent: "],
                "a" => &["which one? (anything else is no) "],
                "2" => &["until you revoke it) "],
                _ => &[],
            };
            for text in next {
                person.sees(text);
            }
        }
        person.sees(expected);
        assert_eq!(person.ends(), code, "{keys:?}");
        assert_eq!(machine.content("notes/a.txt").is_some(), code == 0, "{keys:?}");
        // What was remembered holds for the next call of the same kind, where nobody is asked.
        let other = ["call", "write", r#"{"path": "notes/a.txt", "content": "x"}"#];
        let remembered = matches!(keys, ["a", "2", ""] | ["s"]);
        assert_eq!(machine.run(&other).code == 0, remembered, "{keys:?}");
        let grants = machine.run(&["approvals", "list", "--json"]).json()["grants"].clone();
        let ends = !grants[0]["expires_at"].is_null();
        assert_eq!(ends, matches!(keys, ["a", "2", ""]), "{keys:?} {grants}");
    }
}

fn held_changes() {
    let machine = Machine::new();
    (0..30).for_each(|number| machine.file(&format!("{number}.txt"), "gone soon\n"));
    assert_eq!(machine.run(&["permissions", "grant", "exec"]).code, 0);
    let mut person = Person::at(&machine, &["call", "exec", r#"{"command": "rm *.txt"}"#]);
    let shown = person.sees(&format!("[v] view the changes  {ONCE}{NO}"));
    assert!(shown.contains("It has run, and would change 30 paths:"), "{shown}");
    assert!(shown.contains("deleted  17.txt  (removed, 10 bytes)"), "{shown}");
    person.types("v\r");
    person.sees("-gone soon");
    person.sees("[q] enough: ");
    person.types("q\r");
    person.sees(NO);
    // There is nothing to be remembered.
    person.types("s\r");
    person.sees("`s` is none of these.");
    assert!(machine.content("17.txt").is_some());
    person.types("y\r");
    assert_eq!(person.ends(), 0);
    assert!(machine.content("17.txt").is_none());
}

/// Of two at once nobody knows which one is answered.
fn one_after_the_other() {
    let machine = machine();
    let call = |name: &str| {
        serde_json::json!({"type": "tool_use", "id": name, "name": "write",
            "input": {"path": name, "content": "x"}})
    };
    let names = ["one.txt", "two.txt", "three.txt"];
    let message = serde_json::json!({"role": "assistant", "content": names.map(call)});
    let mut person = Person::at(&machine, &["call", "-", "--format", "anthropic"]);
    person.types(&format!("{message}\r\u{4}"));
    let mut asked = Vec::new();
    for (key, next) in [("y", "wants to call"), ("n", "wants to call"), ("y", "")] {
        person.sees("It would write `");
        let path = person.sees("`");
        let rest = person.sees(NO);
        assert!(!rest.contains("wants to call"), "{rest}");
        asked.push((path, key == "y"));
        person.types(&format!("{key}\r"));
        person.sees(next);
    }
    person.ends();
    for (path, agreed) in asked {
        assert_eq!(machine.content(&path).is_some(), agreed, "{path}");
    }
}
