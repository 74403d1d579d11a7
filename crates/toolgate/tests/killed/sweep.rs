//! At any moment at all.

use std::{collections::BTreeSet, thread, time::Duration};

use scripted::{Reply, Request};
use serde_json::json;

use crate::helper::{ASKED, INTERRUPTED, Talk};

/// So many calls are made before the conversation ends.
const CALLS: usize = 80;
/// So often the server is killed at most.
const KILLS: u64 = 12;

const DONE: &str = "All done.";

/// The next call is that of the number of results the model has seen.
fn next(request: &Request) -> Reply {
    let messages = request.body["messages"].as_array();
    let results =
        messages.into_iter().flatten().filter(|message| message["role"] == "tool").count();
    if results >= CALLS {
        return Reply::text(DONE);
    }
    Reply::call("exec", json!({"command": format!("echo {results} >> ran.txt")}))
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_runs_twice_whenever_it_dies() {
    let config = "[tools]\nask = \"auto\"\n[tools.exec]\nhost = \"host\"\n";
    let mut talk = Talk::answering(config, next).await;
    talk.run(&["permissions", "grant", "exec"]);
    for round in 0..KILLS {
        let asked = talk.ask();
        // Sooner or later in a round, which takes some tens of milliseconds.
        thread::sleep(Duration::from_millis(20 + round * 37 % 100));
        talk.server.again();
        if asked.join().unwrap().is_some_and(|answer| answer.status == 200) {
            break;
        }
    }
    assert_eq!(talk.answer(), DONE);
    let ran = talk.file("ran.txt");
    let numbers: Vec<usize> = ran.lines().map(|line| line.parse().unwrap()).collect();
    let once: BTreeSet<_> = numbers.iter().copied().collect();
    assert_eq!(numbers.len(), once.len(), "{ran}");
    assert!(once.len() >= CALLS - 2 * usize::try_from(KILLS).unwrap(), "{ran}");
    // What the model was told is what happened.
    let requests = talk.model.requests();
    let told = requests.last().unwrap().body["messages"].as_array().unwrap();
    let results: Vec<_> = told.iter().filter(|message| message["role"] == "tool").collect();
    for (number, result) in results.iter().enumerate() {
        let text = result["content"].as_str().unwrap();
        let did_run = once.contains(&number);
        if text.contains("did not run") {
            assert!(!did_run, "{number}: {text}");
        } else if !text.starts_with(INTERRUPTED) {
            assert!(did_run, "{number}: {text}");
        }
    }
    // It is said anew only after it was answered, however fast that was.
    let said = |role: &str, text: &str| {
        told.iter().filter(|one| one["role"] == role && one["content"] == text).count()
    };
    assert_eq!(said("user", ASKED), 1 + said("assistant", DONE), "{told:#?}");
    talk.is_in_order();
}
