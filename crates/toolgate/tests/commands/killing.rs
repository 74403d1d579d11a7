//! `kill -9` in the middle of undos, undos of undos and reviews.
//!
//! A few rounds by default; `KILL_TEST_ROUNDS=500` for many.

use std::{fs, os::unix::fs::symlink, thread, time::Duration};

use libtest_mimic::Trial;
use serde_json::{Value, json};

use crate::{
    cli::Machine,
    helper::{count, plain, tree},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        plain("a_killed_undo_loses_nothing_and_is_finished", killed_undos),
        plain("a_killed_review_loses_nothing_and_is_finished", killed_reviews),
    ]
}

/// Equal folders, a different one, links, modes and empty folders.
fn grow(machine: &Machine) {
    let workspace = machine.path("workspace");
    for (name, content) in [("one", "equal"), ("two", "equal"), ("three/two", "equal"), ("x", "x")]
    {
        let folder = workspace.join(name);
        fs::create_dir_all(folder.join("inner/empty")).unwrap();
        for number in 0..20 {
            fs::write(folder.join(format!("inner/{number}")), content).unwrap();
        }
        symlink("inner/1", folder.join("link")).unwrap();
    }
    machine.file("file", "old\n");
}

fn machine() -> Machine {
    let machine = Machine::configured("[tools]\nask = \"auto\"\n");
    assert_eq!(machine.run(&["permissions", "grant", "exec"]).code, 0);
    grow(&machine);
    machine
}

/// A pseudo-random moment within the time a command takes.
struct Moments(u64);

impl Moments {
    fn next(&mut self) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        Duration::from_micros(self.0 % 120_000)
    }
}

/// Kills a command after a while. Says whether it was still running.
fn kill(machine: &Machine, args: &[&str], after: Duration) -> bool {
    let mut child = machine.start(args);
    thread::sleep(after);
    let was_running = child.try_wait().unwrap().is_none();
    child.kill().unwrap();
    child.wait().unwrap();
    was_running
}

/// The last undo that changed something, by whichever process it was finished.
fn last_undo(machine: &Machine) -> String {
    let undos = machine.run(&["history", "--tool", "undo", "--limit", "5", "--json"]).json();
    let changed = |entry: &&Value| entry["changed"].as_array().is_some_and(|all| !all.is_empty());
    undos.as_array().unwrap().iter().find(changed).unwrap()["id"].as_str().unwrap().to_owned()
}

fn killed_undos() {
    let machine = machine();
    let workspace = machine.path("workspace");
    let before = tree(&workspace);
    let command = "rm -rf one two three && rm -r x && echo file > x && echo new > file && mkdir y";
    let outcome = machine.call("exec", &json!({"command": command}));
    let id = outcome["meta"]["call_id"].as_str().unwrap().to_owned();
    let after = tree(&workspace);
    assert_ne!(before, after, "{outcome}");
    let (mut moments, mut killed) = (Moments(0x9E37_79B9_7F4A_7C15), [0, 0]);
    let rounds = count("KILL_TEST_ROUNDS", 5);
    for round in 0..rounds {
        killed[0] += usize::from(kill(&machine, &["undo", &id], moments.next()));
        let undone = machine.run(&["undo", &id]);
        assert_eq!((undone.code, tree(&workspace) == before), (0, true), "{round}: {undone:?}");
        let undo = last_undo(&machine);
        killed[1] += usize::from(kill(&machine, &["undo", &undo], moments.next()));
        let redone = machine.run(&["undo", &undo]);
        assert_eq!((redone.code, tree(&workspace) == after), (0, true), "{round}: {redone:?}");
    }
    println!("{rounds} rounds: {} undos and {} undos of undos killed", killed[0], killed[1]);
    assert_eq!(machine.run(&["audit", "verify"]).code, 0);
}

fn killed_reviews() {
    let machine = machine();
    let workspace = machine.path("workspace");
    let before = tree(&workspace);
    let program = "mkdir made; echo 1 > made/a; echo 2 > file; rm -rf one two; touch made/done";
    let run = ["run", "--keep", "--", "sh", "-c", program];
    let (mut moments, mut seen) = (Moments(0x2545_F491_4F6C_DD1D), [0, 0, 0]);
    let rounds = count("KILL_TEST_ROUNDS", 5);
    for round in 0..rounds {
        kill(&machine, &run, moments.next() * 2);
        // The program may still be on its way out, and the changes may be in the workspace.
        let mut resumed = machine.run(&["run", "--resume", "last", "--keep"]);
        machine.until("the killed run is over", || {
            let busy = resumed.stderr.contains("still going on");
            if busy {
                resumed = machine.run(&["run", "--resume", "last", "--keep"]);
            }
            !busy
        });
        // So that whatever the dead process left is finished.
        machine.call("get_current_time", &json!({}));
        assert!(machine.run(&["run", "--list"]).stdout.is_empty(), "{round}: {resumed:?}");
        let now = tree(&workspace);
        let changed = now != before;
        let place = if changed { 1 + usize::from(resumed.code == 0) } else { 0 };
        seen[place] += 1;
        if changed {
            let runs = machine.run(&["history", "--tool", "run", "--limit", "3", "--json"]).json();
            let id = runs.as_array().unwrap().iter().find_map(|entry| {
                let changed = entry["changed"].as_array()?;
                (!changed.is_empty()).then(|| entry["id"].as_str().unwrap().to_owned())
            });
            let undone = machine.run(&["undo", &id.unwrap()]);
            assert_eq!((undone.code, tree(&workspace) == before), (0, true), "{round}: {undone:?}");
        }
    }
    println!("{rounds} reviews: not begun, kept by the killed run, kept by resume: {seen:?}");
}
