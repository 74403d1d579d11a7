//! A stop reaches what runs already.

use std::time::SystemTime;

use libtest_mimic::Trial;
use serde_json::json;
use store::{Emergency, Said};
use tool::Exec;

use crate::helper::{STARTED, Setup, trial, until};

pub(crate) fn trials() -> Vec<Trial> {
    vec![trial("a_stop_ends_commands_and_processes", a_stop_ends_commands_and_processes)]
}

async fn a_stop_ends_commands_and_processes() {
    let setup = Setup::new().await;
    let background = json!({"command": "sleep 1000", "background": true});
    let started = setup.call("exec", background).await;
    assert_eq!(started["status"], "success", "{started}");
    let command = format!("{STARTED}; sleep 1000; touch late");
    let running = setup.begin(&setup.caller, json!({"command": command})).await;
    let said = Said { by: "ada".into(), at: SystemTime::UNIX_EPOCH, reason: Some("enough".into()) };
    setup.gate.emergency().say(Some(&Emergency::Stopped(said))).unwrap();
    let outcome = running.outcome().await;
    assert_eq!(outcome["details"]["rule"], "emergency.stop", "{outcome}");
    let processes = Exec::processes(&**setup.gate.runner(), &setup.caller);
    assert_eq!(processes.len(), 1);
    until("the process has ended", || processes[0].status().ended.is_some()).await;
    setup.gate.emergency().say(None).unwrap();
    assert_eq!(setup.printed("echo again").await, "again\n");
    assert_eq!(setup.text("late"), None);
}
