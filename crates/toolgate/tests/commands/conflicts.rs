//! Commands that run at the same time and change the same file.

use std::{fs, path::PathBuf};

use futures_util::future::join_all;
use libtest_mimic::Trial;
use serde_json::{Value, json};
use toolgate::Caller;

use crate::{
    cli::{Machine, finish},
    helper::{AUTO, STARTED, Setup, error, tree, trial},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("of_two_commands_at_once_one_wins", of_two_commands_at_once_one_wins),
        trial("a_file_changed_by_hand_meanwhile_wins", a_file_changed_by_hand_meanwhile_wins),
        trial("commands_that_do_not_meet_both_stay", commands_that_do_not_meet_both_stay),
        trial("commands_that_start_at_once_all_start", commands_that_start_at_once_all_start),
        Trial::test("of_two_processes_at_once_one_wins", || {
            of_two_processes_at_once_one_wins();
            Ok(())
        }),
    ]
}

/// Does `before`, says that it has started, waits until it may go on, and then does `after`.
fn held(before: &str, after: &str) -> Value {
    let wait = "while [ ! -e /tmp/go ]; do sleep 0.01; done";
    json!({"command": format!("{before}; {STARTED}; {wait}; {after}")})
}

async fn of_two_commands_at_once_one_wins() {
    for (first, second) in [
        ("echo first > shared.txt", "echo second > shared.txt"),
        ("sed -i s/old/first/ shared.txt", "echo second >> shared.txt"),
        ("echo first >> shared.txt", "rm shared.txt"),
        ("rm shared.txt", "echo second >> shared.txt"),
        ("echo x > new.txt; chmod 600 shared.txt", "echo second > shared.txt"),
        ("echo first > fresh.txt", "echo second > fresh.txt"),
    ] {
        let setup = Setup::new().await;
        setup.file("shared.txt", "old\n");
        let (one, two) = (setup.agent("one").await, setup.agent("two").await);
        let call = setup.begin(&one, held(first, "echo 1 > only-first.txt")).await;
        let winner = setup.call_as(&two, "exec", json!({"command": second})).await;
        assert_eq!(winner["result"]["exitCode"], 0, "{second}: {winner}");
        let after = tree(&setup.path(""));
        fs::write(setup.temp(&one, "go"), "").unwrap();
        let said = error(&call.outcome().await);
        let shared = if first.contains("fresh") { "`fresh.txt`" } else { "`shared.txt`" };
        assert!(said.starts_with("execution_error: "), "{first}: {said}");
        assert!(said.contains(shared) && said.contains("changed since"), "{first}: {said}");
        assert_eq!(tree(&setup.path("")), after, "{first}: nothing of it is there");
    }
}

/// The first ones of a session, in a folder beneath the temporary one: there they share another one, in which a place
/// for it is made.
async fn commands_that_start_at_once_all_start() {
    let folder = tempfile::tempdir_in("/tmp").unwrap();
    let setup = Setup::built(AUTO, |gate| gate.workspace(folder.path())).await;
    for round in 0..60 {
        let caller = Caller { session: format!("s{round}").into(), ..setup.caller.clone() };
        let command = || json!({"command": "sleep 0"});
        let calls = (0..8).map(|_| setup.call_as(&caller, "exec", command()));
        for outcome in join_all(calls).await {
            assert_eq!(outcome["status"], "success", "{outcome}");
        }
    }
}

async fn a_file_changed_by_hand_meanwhile_wins() {
    let setup = Setup::new().await;
    setup.file("a.txt", "old\n");
    let call =
        setup.begin(&setup.caller, held("true", "echo command > a.txt; echo b > b.txt")).await;
    setup.file("a.txt", "by hand\n");
    fs::write(setup.temp(&setup.caller, "go"), "").unwrap();
    let outcome = call.outcome().await;
    let said = error(&outcome);
    assert!(said.contains("`a.txt` changed since, so nothing was changed"), "{said}");
    assert_eq!((setup.text("a.txt").as_deref(), setup.text("b.txt")), (Some("by hand\n"), None));
    assert_eq!(outcome["meta"]["changed"], json!([]), "{outcome}");
}

async fn commands_that_do_not_meet_both_stay() {
    let setup = Setup::new().await;
    setup.file("same/folder/there.txt", "");
    let (one, two) = (setup.agent("one").await, setup.agent("two").await);
    let call = setup.begin(&one, held("true", "echo 1 > same/folder/one.txt")).await;
    let second = json!({"command": "echo 2 > same/folder/two.txt"});
    assert_eq!(setup.call_as(&two, "exec", second).await["status"], "success");
    fs::write(setup.temp(&one, "go"), "").unwrap();
    assert_eq!(call.outcome().await["status"], "success");
    let texts = ["same/folder/one.txt", "same/folder/two.txt"].map(|name| setup.text(name));
    assert_eq!(texts, [Some("1\n".to_owned()), Some("2\n".to_owned())]);
}

fn of_two_processes_at_once_one_wins() {
    let machine = Machine::new();
    assert_eq!(machine.run(&["agents", "add", "other"]).code, 0);
    for agent in ["main", "other"] {
        let granted = machine.run(&["permissions", "grant", "exec", "--agent", agent]);
        assert_eq!(granted.code, 0, "{granted:?}");
    }
    machine.file("shared.txt", "old\n");
    let wait = "touch /tmp/started; while [ ! -e /tmp/go ]; do sleep 0.01; done";
    let slow = json!({"command": format!("{wait}; echo 1 > new.txt; echo first > shared.txt")});
    let call = machine.start(&["call", "exec", &slow.to_string(), "--session", "slow"]);
    let mut temp: Option<PathBuf> = None;
    machine.until("the command has started", || {
        let sessions = fs::read_dir(machine.path("data/toolgate/tmp")).into_iter().flatten();
        let mut sessions = sessions.map(|entry| entry.unwrap().path());
        temp = sessions.find(|session| session.join("started").exists());
        temp.is_some()
    });
    let quick = json!({"command": "echo second > shared.txt"}).to_string();
    let winner = machine.run(&["call", "exec", &quick, "--agent", "other"]);
    assert_eq!((winner.code, &winner.json()["status"]), (0, &json!("success")), "{winner:?}");
    fs::write(temp.unwrap().join("go"), "").unwrap();
    let ran = finish(call);
    let said = error(&ran.json());
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(said.contains("`shared.txt` changed since, so nothing was changed"), "{said}");
    assert_eq!(machine.content("shared.txt").as_deref(), Some("second\n"));
    assert_eq!(machine.content("new.txt"), None);
}
