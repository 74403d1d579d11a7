//! Processes that are killed in the middle of calls.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a failed setup should fail the test, and it has to start and kill processes"
)]

mod worker;

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
};

use store::{Filter, Status};
use tempfile::TempDir;
use toolgate::{Caller, Gate, builtin};

use crate::worker::{Job, NAMES};

/// Rounds of kill -9, and calls answered in each before it comes.
const ROUNDS: usize = 10;
const CALLS: usize = 50;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_nine_loses_nothing_and_leaves_nothing_half_done() {
    let folder = TempDir::new().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("ws")).unwrap();
    fs::create_dir(root.join("ws-second")).unwrap();
    // A second process writes to the same data folder all the time, and has one call that hangs.
    let mut second = Running::start(root, "second", 0);
    let (hanging, _) = second.next_answer();
    let mut answered = BTreeMap::new();
    for round in 0..ROUNDS {
        let mut victim = Running::start(root, "victim", round * 1000);
        for _ in 0..CALLS {
            let (id, file) = victim.next_answer();
            answered.insert(id, file);
        }
        // It is in the middle of the next calls now.
        victim.child.kill().unwrap();
        for (id, file) in victim.rest() {
            answered.insert(id, file);
        }
        victim.child.wait().unwrap();
        // Whoever comes next puts it in order, also from another workspace.
        drop(open(root, &format!("elsewhere-{round}")));
        check_whole(root);
        assert_nothing_staged(&root.join("ws"));
    }
    let gate = open(root, "ws");
    assert_eq!(status(&gate, &hanging), Status::Running, "a living call is not interrupted");
    check_answered(&gate, &answered);
    let patches = check_whole(root);
    assert!(patches >= ROUNDS * CALLS / 2 - ROUNDS, "{patches} patches were applied");
    assert!(gate.journal().verify(None).unwrap().ok);
    drop(second.stdin.take());
    for (id, file) in second.rest() {
        answered.insert(id, file);
    }
    second.child.wait().unwrap();
    check_answered(&gate, &answered);
    check_undo(&gate, root).await;
    assert!(gate.journal().verify(None).unwrap().ok);
    assert_nothing_staged(&root.join("ws"));
}

fn open(root: &Path, workspace: &str) -> Gate {
    fs::create_dir_all(root.join(workspace)).unwrap();
    let gate = Gate::builder().data(root.join("data")).workspace(root.join(workspace));
    gate.tools(builtin()).build().unwrap()
}

fn status(gate: &Gate, id: &str) -> Status {
    gate.journal().entry(id.parse().unwrap()).unwrap().unwrap().status
}

fn check_answered(gate: &Gate, answered: &BTreeMap<String, String>) {
    for id in answered.keys() {
        assert_eq!(status(gate, id), Status::Success, "{id} was answered");
    }
}

/// Every patch is whole or absent; gives how many are whole.
fn check_whole(root: &Path) -> usize {
    let mut whole = 0;
    for folder in fs::read_dir(root.join("ws")).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let texts = NAMES.map(|name| fs::read_to_string(folder.join(name)).unwrap());
        let [first, ..] = &texts;
        assert!(texts.iter().all(|text| text == first), "{}: {texts:?}", folder.display());
        whole += usize::from(first == "new\n");
    }
    whole
}

/// Every change has its record: undoing them all, newest first, gives what was there before.
async fn check_undo(gate: &Gate, root: &Path) {
    let filter = Filter { limit: 100_000, ..Filter::default() };
    let mut entries = gate.journal().entries(&filter).unwrap();
    // What the second process changed is in a workspace of its own.
    entries.retain(|entry| !entry.changed.to_string().contains("second-"));
    let mut undone = 0;
    for entry in entries {
        let changed = entry.changed.as_array().is_some_and(|list| !list.is_empty());
        if changed {
            let outcome = gate.undo(&Caller::owner("main"), entry.id).await;
            assert_eq!(outcome.status(), "success", "{outcome:?} of {entry:?}");
            undone += 1;
        }
    }
    assert!(undone >= ROUNDS * CALLS, "{undone}");
    for entry in fs::read_dir(root.join("ws")).unwrap() {
        let path = entry.unwrap().path();
        assert!(path.is_dir(), "{} was written and is still there", path.display());
        for name in NAMES {
            assert_eq!(fs::read_to_string(path.join(name)).unwrap(), "old\n");
        }
    }
}

fn assert_nothing_staged(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        assert!(!path.to_string_lossy().contains(".toolgate-"), "{}", path.display());
        if path.is_dir() {
            assert_nothing_staged(&path);
        }
    }
}

/// A process of this same test program that makes calls.
struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
}

impl Running {
    fn start(root: &Path, role: &str, first: usize) -> Self {
        let job =
            serde_json::to_string(&Job { root: root.into(), role: role.into(), first }).unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["worker::makes_calls", "--exact", "--nocapture", "--test-threads=1"])
            .env(worker::JOB, job)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take().unwrap());
        Self { child, stdin, lines: BufReader::new(stdout).lines() }
    }

    /// The next line of ours, without what the test harness prints.
    fn next_line(&mut self) -> String {
        self.try_next().unwrap_or_else(|| panic!("the process ended before it answered"))
    }

    fn try_next(&mut self) -> Option<String> {
        self.lines.by_ref().map_while(Result::ok).find_map(|line| {
            let (_, ours) = line.split_once("answered ")?;
            Some(ours.to_owned())
        })
    }

    fn next_answer(&mut self) -> (String, String) {
        let line = self.next_line();
        let (id, file) = line.split_once(' ').unwrap();
        (id.to_owned(), file.to_owned())
    }

    /// What was still in the pipe.
    fn rest(&mut self) -> Vec<(String, String)> {
        let mut rest = Vec::new();
        while let Some(line) = self.try_next() {
            if let Some((id, file)) = line.split_once(' ') {
                rest.push((id.to_owned(), file.to_owned()));
            }
        }
        rest
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.stdin.take().map(|mut stdin| stdin.flush());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
