//! `process`.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    helper::Setup,
    machine::{Fake, Machine, ended},
};

fn knowing(processes: &[&Arc<Fake>]) -> (Setup, Arc<Machine>) {
    let machine = Machine::with(processes);
    (Setup::with(&[]).with_exec(machine.clone()), machine)
}

#[test]
fn looking_changes_nothing_and_the_rest_is_said_in_words() {
    let only = |act: &str| vec![act.to_owned(), "use exec".to_owned()];
    for (args, effects, expected) in [
        (json!({"action": "list"}), "pure", vec!["use exec".to_owned()]),
        (json!({"action": "poll", "processId": "p1"}), "pure", vec!["use exec".to_owned()]),
        (json!({"action": "log", "processId": "p1"}), "pure", vec!["use exec".to_owned()]),
        (
            json!({"action": "write", "processId": "p1", "data": "y\n"}),
            "act",
            only("write \"y\\n\" to process `p1`"),
        ),
        (
            json!({"action": "write", "processId": "p1", "data": "y", "eof": true}),
            "act",
            only("write \"y\" to process `p1` and end its input"),
        ),
        (
            json!({"action": "write", "processId": "p1", "eof": true}),
            "act",
            only("end the input of process `p1`"),
        ),
        (
            json!({
                "action": "send-keys", "processId": "p1",
                "literal": ":q", "hex": ["1b", "0x5b41"], "keys": ["C-c", "Enter"],
            }),
            "act",
            only("type \":q\", the bytes 1b 5b 41, `C-c`, `Enter` into process `p1`"),
        ),
        (
            json!({"action": "submit", "processId": "p1", "text": "yes\u{200b}"}),
            "act",
            only("type \"yes\\u{200b}\" and Enter into process `p1`"),
        ),
        (
            json!({"action": "paste", "processId": "p1", "text": "a\nb"}),
            "act",
            only("paste \"a\\nb\" into process `p1`"),
        ),
        (json!({"action": "kill", "processId": "p1"}), "act", only("end process `p1`")),
        (
            json!({"action": "remove", "processId": "p1"}),
            "act",
            only("end process `p1` and forget its output"),
        ),
        (
            json!({"action": "clear"}),
            "act",
            only("forget the processes that have ended, with their output"),
        ),
        // What cannot run needs nothing.
        (json!({"action": "kill"}), "pure", vec![]),
    ] {
        let plan = Setup::plan("process", args.clone());
        let needs: Vec<_> = plan.needs().iter().map(ToString::to_string).collect();
        assert_eq!(needs, expected, "{args}");
        assert_eq!(plan.effects().to_string(), effects, "{args}");
    }
}

#[tokio::test]
async fn what_is_missing_is_named() {
    let (setup, _) = knowing(&[&Fake::running("p1", b""), &Fake::exited("q7", b"", 0)]);
    for (args, expected) in [
        (json!({"action": "poll"}), "`processId`: missing, but `poll` needs it; `list` shows them"),
        (json!({"action": "kill", "processId": " "}), "`processId`: missing, but `kill` needs it"),
        (json!({"action": "write", "processId": "p1"}), "`data`: missing, but `write` needs it"),
        (json!({"action": "send-keys", "processId": "p1"}), "`keys`: missing, but `send-keys`"),
        (
            json!({"action": "send-keys", "processId": "p1", "keys": ["Entr"]}),
            "`keys`: unknown key `Entr`; did you mean `Enter`?",
        ),
        (
            json!({"action": "send-keys", "processId": "p1", "hex": ["xy"]}),
            "`hex`: `xy` is not a byte in hexadecimal",
        ),
        (json!({"action": "paste", "processId": "p1"}), "`text`: missing, but `paste` needs it"),
        (
            json!({"action": "paste", "processId": "p1", "text": "a\u{1b}[201~rm -r .\n"}),
            "`text`: contains the sequence that ends a paste",
        ),
        (
            json!({"action": "poll", "processId": "p1", "timeout": 30_001}),
            "`timeout`: is more than 30000 milliseconds",
        ),
        (
            json!({"action": "log", "processId": "p1", "limit": 0}),
            "`limit`: is not between 1 and 40000 bytes",
        ),
        (
            json!({"action": "log", "processId": "p9"}),
            "`processId`: no process `p9`; there are `p1`, `q7`",
        ),
    ] {
        let text = setup.text("process", args.clone()).await;
        let expected = format!("validation_error: invalid arguments for `process`: {expected}");
        assert!(text.starts_with(&expected), "{args}: {text}");
    }
    let text = knowing(&[]).0.text("process", json!({"action": "log", "processId": "p1"})).await;
    let hint = "no process `p1`; there are none; `exec` with `background` starts one";
    assert!(text.ends_with(hint), "{text}");
}

#[tokio::test]
async fn list_shows_all_processes() {
    let long = format!("{}hunter2hunter2{}", "x".repeat(195), "y".repeat(50));
    let (first, second) = (Fake::running("p1", b"abc"), Fake::exited("p2", b"", 1));
    let (setup, _) = knowing(&[&first, &second.with_command(&long).with_terminal()]);
    let setup = setup.with_secret("hunter2hunter2");
    let output = setup.call("process", json!({"action": "list"})).await.unwrap();
    assert_eq!(
        output.value.clone().unwrap()["processes"],
        json!([
            {
                "processId": "p1", "status": "running", "command": "npm start", "cwd": "web",
                "place": "sandbox", "pid": 42, "ageMs": 3000, "writtenBytes": 3, "terminal": false,
            },
            {
                "processId": "p2", "status": "exited", "exitCode": 1, "timedOut": false,
                "durationMs": 1500, "command": long, "cwd": "web", "place": "sandbox", "pid": 42,
                "ageMs": 3000, "writtenBytes": 0, "terminal": true,
            },
        ])
    );
    assert_eq!(
        output.joined_text(),
        format!(
            "process `p1` is running; 3 s, pid 42, 3 bytes of output; `npm start`\n\
             process `p2` has ended: exit code 1; 3 s, pid 42, 0 bytes of output; `{}⟦secret⟧…`",
            "x".repeat(195)
        )
    );
    let text = knowing(&[]).0.text("process", json!({"action": "list"})).await;
    assert_eq!(text, "(no processes)");
}

#[tokio::test]
async fn output_is_read_in_parts() {
    let running = Fake::running("p1", "one\ntwo ü€".as_bytes());
    let long = Fake::exited("p2", &b"0123456789".repeat(2_000), 0).kept_from(5_000);
    let half = Fake::running("p3", b"a\xe2\x82");
    let cut = Fake::exited("p4", b"a\xe2\x82", 0);
    let (setup, _) = knowing(&[&running, &long, &half, &cut]);
    let see = |id: &str, more: Value| {
        let mut args = json!({"action": "log", "processId": id});
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    for (args, offset, next, output) in [
        (see("p1", json!({})), 0, 13, "one\ntwo ü€"),
        (see("p1", json!({"offset": 4})), 4, 13, "two ü€"),
        (see("p1", json!({"offset": 4, "limit": 3})), 4, 7, "two"),
        (see("p1", json!({"offset": 4, "limit": 5})), 4, 8, "two "),
        (see("p1", json!({"offset": 8, "limit": 1})), 8, 9, "\u{fffd}"),
        (see("p1", json!({"offset": 9})), 10, 13, "€"),
        (see("p1", json!({"offset": 13})), 13, 13, ""),
        (see("p1", json!({"offset": 99})), 13, 13, ""),
        (see("p1", json!({"limit": 3})), 10, 13, "€"),
        (see("p2", json!({"offset": 0, "limit": 3})), 5_000, 5_003, "012"),
        (see("p2", json!({"limit": 4})), 19_996, 20_000, "6789"),
        (see("p3", json!({})), 0, 1, "a"),
        (see("p3", json!({"offset": 1})), 1, 3, "\u{fffd}"),
        (see("p4", json!({})), 0, 3, "a\u{fffd}"),
    ] {
        let value = setup.value("process", args.clone()).await;
        assert_eq!(value["output"], output, "{args}");
        assert_eq!(
            (&value["offset"], &value["nextOffset"]),
            (&json!(offset), &json!(next)),
            "{args}"
        );
    }
    for (args, expected) in [
        (
            see("p1", json!({"limit": 4, "offset": 0})),
            "[process `p1` is running; bytes 0-4 of 13; there is more, go on with offset 4]\none\n",
        ),
        (
            see("p1", json!({"offset": 13})),
            "[process `p1` is running; bytes 13-13 of 13; go on with offset 13]\n(no new output)",
        ),
        (
            see("p2", json!({"offset": 1, "limit": 1})),
            "[process `p2` has ended: exit code 0; bytes 5000-5001 of 20000; what was before byte \
             5000 is no longer kept; there is more, go on with offset 5001]\n0",
        ),
    ] {
        assert_eq!(setup.text("process", args).await, expected);
    }
}

#[tokio::test]
async fn no_part_shows_half_a_secret() {
    let process = Fake::running("p1", b"key hunter2hunter2 end");
    let (setup, _) = knowing(&[&process]);
    let setup = setup.with_secret("hunter2hunter2");
    for (offset, limit, expected) in [
        (0, 8, "key ⟦secret⟧"),
        (8, 100, "⟦secret⟧ end"),
        (6, 2, "⟦secret⟧"),
        (0, 100, "key ⟦secret⟧ end"),
        (18, 100, " end"),
    ] {
        let args = json!({"action": "log", "processId": "p1", "offset": offset, "limit": limit});
        assert_eq!(setup.value("process", args).await["output"], expected, "{offset} {limit}");
    }
}

#[tokio::test]
async fn poll_waits_for_news() {
    let process = Fake::running("p1", b"old\n");
    let (setup, _) = knowing(&[&process]);
    let poll = |offset: u64, timeout: u64| json!({"action": "poll", "processId": "p1", "offset": offset, "timeout": timeout});
    let started = Instant::now();
    let value = setup.value("process", poll(0, 5_000)).await;
    assert_eq!(value["output"], "old\n", "there already is news");
    let value = setup.value("process", poll(4, 30)).await;
    assert_eq!((&value["output"], &value["status"]), (&json!(""), &json!("running")));
    assert!(started.elapsed() >= Duration::from_millis(30));

    let later = process.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        later.say(b"new\n");
    });
    let value = setup.value("process", poll(4, 5_000)).await;
    assert_eq!((&value["output"], &value["nextOffset"]), (&json!("new\n"), &json!(8)));

    let later = process.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(20)).await;
        later.exit(ended(4));
    });
    let value = setup.value("process", poll(8, 5_000)).await;
    assert_eq!((&value["status"], &value["exitCode"]), (&json!("exited"), &json!(4)));
    assert!(started.elapsed() < Duration::from_secs(4));
}

#[tokio::test]
async fn input_is_sent_as_a_terminal_would() {
    for (args, pipe, terminal) in [
        (json!({"action": "write", "data": "y\n"}), ("y\n", false), ("y\n", false)),
        (json!({"action": "write", "data": "y", "eof": true}), ("y", true), ("y", true)),
        (json!({"action": "write", "eof": true}), ("", true), ("", true)),
        (json!({"action": "submit", "text": "y"}), ("y\n", false), ("y\r", false)),
        (json!({"action": "submit"}), ("\n", false), ("\r", false)),
        (
            json!({"action": "send-keys", "keys": ["Up", "Enter"], "literal": "a", "hex": ["03"]}),
            ("a\u{3}\u{1b}[A\n", false),
            ("a\u{3}\u{1b}[A\r", false),
        ),
        (
            json!({"action": "paste", "text": "a\nb"}),
            ("a\nb", false),
            ("\u{1b}[200~a\nb\u{1b}[201~", false),
        ),
        (
            json!({"action": "paste", "text": "a\nb", "bracketed": false}),
            ("a\nb", false),
            ("a\nb", false),
        ),
    ] {
        let (first, second) = (Fake::running("p1", b"$ "), Fake::running("p2", b"$ "));
        let second = second.with_terminal();
        let (setup, _) = knowing(&[&first, &second]);
        for (process, id, (expected, last)) in [(&first, "p1", pipe), (&second, "p2", terminal)] {
            let mut args = args.clone();
            args["processId"] = json!(id);
            let value = setup.value("process", args.clone()).await;
            assert_eq!(process.input(), (expected.to_owned(), last), "{args}");
            assert_eq!(value["sentBytes"], expected.len());
            assert_eq!(value["nextOffset"], 2);
        }
    }
}

#[tokio::test]
async fn the_answer_to_input_says_how_to_go_on() {
    let (setup, _) = knowing(&[&Fake::running("p1", b"$ "), &Fake::exited("p2", b"", 1)]);
    for (args, expected) in [
        (
            json!({"action": "write", "processId": "p1", "data": "y", "eof": true}),
            "sent 1 bytes to process `p1` and ended its input; see what it does with `poll` and offset 2",
        ),
        (
            json!({"action": "send-keys", "processId": "p1", "keys": ["C-c"]}),
            "sent 1 bytes to process `p1`; it has no terminal, so keys such as `C-c` are only bytes \
             to it: start it with `pty`; see what it does with `poll` and offset 2",
        ),
        (
            json!({"action": "submit", "processId": "p2"}),
            "execution_error: process `p2` has ended: exit code 1; it takes no input any more; `log` \
             shows what it wrote",
        ),
    ] {
        assert_eq!(setup.text("process", args).await, expected);
    }
}

#[tokio::test]
async fn processes_are_ended_and_forgotten() {
    let processes = [
        Fake::running("p1", b""),
        Fake::exited("p2", b"", 0),
        Fake::running("p3", b""),
        Fake::exited("p4", b"", 0),
    ];
    let (setup, machine) = knowing(&processes.each_ref());
    for (args, expected, left) in [
        (
            json!({"action": "kill", "processId": "p1"}),
            "process `p1` has ended: ended by signal 9 (SIGKILL)",
            "p1 p2 p3 p4",
        ),
        (
            json!({"action": "kill", "processId": "p2"}),
            "process `p2` has ended: exit code 0",
            "p1 p2 p3 p4",
        ),
        (json!({"action": "remove", "processId": "p2"}), "forgot `p2`", "p1 p3 p4"),
        (json!({"action": "clear"}), "forgot `p1`, `p4`", "p3"),
        (json!({"action": "clear"}), "nothing to forget: no process has ended", "p3"),
        (json!({"action": "remove", "processId": "p3"}), "forgot `p3`", ""),
    ] {
        assert_eq!(setup.text("process", args.clone()).await, expected, "{args}");
        assert_eq!(machine.ids(), left, "{args}");
    }
}
