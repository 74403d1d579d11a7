//! A stop reaches what runs already.

use std::time::{Duration, Instant, SystemTime};

use libtest_mimic::Trial;
use serde_json::json;
use store::{ApprovalFilter, Emergency, Said, Which};
use tool::Exec;

use crate::{
    approving::question,
    helper::{PATIENCE, STARTED, Setup, trial, until},
};

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("a_stop_ends_commands_and_processes", a_stop_ends_commands_and_processes),
        trial("a_stop_drops_changes_that_are_held", a_stop_drops_changes_that_are_held),
    ]
}

async fn a_stop_ends_commands_and_processes() {
    let setup = Setup::new().await;
    let background = json!({"command": "sleep 1000", "background": true});
    let started = setup.call("exec", background).await;
    assert_eq!(started["status"], "success", "{started}");
    let command = format!("{STARTED}; sleep 1000; touch late");
    let running = setup.begin(&setup.caller, json!({"command": command})).await;
    stop(&setup);
    let outcome = running.outcome().await;
    assert_eq!(outcome["details"]["rule"], "emergency.stop", "{outcome}");
    let processes = Exec::processes(&**setup.gate.runner(), &setup.caller);
    assert_eq!(processes.len(), 1);
    until("the process has ended", || processes[0].status().ended.is_some()).await;
    setup.gate.emergency().say(None).unwrap();
    assert_eq!(setup.printed("echo again").await, "again\n");
    assert_eq!(setup.text("late"), None);
}

async fn a_stop_drops_changes_that_are_held() {
    let setup = Setup::asking("").await;
    (0..30).for_each(|number| setup.file(&format!("{number}.txt"), "x"));
    let stopped = async {
        question(&setup).await;
        stop(&setup);
    };
    let (outcome, ()) = tokio::join!(setup.sh("rm ./*.txt"), stopped);
    assert_eq!(outcome["details"]["rule"], "emergency.stop", "{outcome}");
    assert_eq!(setup.text("17.txt").as_deref(), Some("x"));
    // Nobody can agree any more.
    let db = setup.gate.db().await.unwrap();
    let filter = ApprovalFilter { which: Which::Pending, user: None, limit: 10 };
    let began = Instant::now();
    while !db.approvals(&filter, SystemTime::now()).await.unwrap().is_empty() {
        assert!(began.elapsed() < PATIENCE, "the question is still open");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn stop(setup: &Setup) {
    let said = Said { by: "ada".into(), at: SystemTime::UNIX_EPOCH, reason: Some("enough".into()) };
    setup.gate.emergency().say(Some(&Emergency::Stopped(said))).unwrap();
}
