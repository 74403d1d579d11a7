//! Everything is stopped in the middle of a call.

use std::{
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime},
};

use serde_json::json;
use store::{Emergency, EmergencyFile, Said, Status};
use tokio::time::timeout;
use toolgate::{Before, BoxFuture, Hook, HookCall};

use crate::helper::{Person, Setup, With};

static FILE: OnceLock<Arc<EmergencyFile>> = OnceLock::new();

fn stop(file: &EmergencyFile) {
    let said = Said { by: "ada".into(), at: SystemTime::UNIX_EPOCH, reason: Some("enough".into()) };
    file.say(Some(&Emergency::Stopped(said))).unwrap();
}

/// Stops everything when a call comes by.
#[derive(Debug)]
struct Stops;

impl Hook for Stops {
    fn name(&self) -> &'static str {
        "stops"
    }

    fn before_tool_call<'a>(&'a self, _: HookCall<'a>) -> BoxFuture<'a, Result<Before, String>> {
        Box::pin(async {
            stop(FILE.get().unwrap());
            Ok(Before::Continue)
        })
    }
}

const STOPPED: &str = "permission_denied: ada stopped everything at 1970-01-01T00:00:00.000Z: enough; \
    only the owner can end that, with `toolgate emergency resume`";

#[tokio::test]
async fn a_call_that_was_let_in_has_no_effect_after_a_stop() {
    let more = |builder: toolgate::GateBuilder| builder.hook(Arc::new(Stops));
    let setup = Setup::with(With { more, ..With::default() });
    FILE.set(setup.gate.emergency().clone()).unwrap();
    let outcome = setup.call("write", json!({"path": "new.txt", "content": "x"})).await;
    assert_eq!(outcome, STOPPED);
    assert!(!setup.path("new.txt").exists());
}

#[tokio::test]
async fn a_call_that_waits_for_a_person_ends_with_a_stop() {
    let config = "[tools]\nask = \"always\"";
    let setup = Setup::with(With { config, person: Person::Silent, ..With::default() });
    let call = setup.call("write", json!({"path": "new.txt", "content": "x"}));
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        stop(setup.gate.emergency());
    };
    assert_eq!(tokio::join!(call, stopping).0, STOPPED);
    setup.gate.emergency().say(None).unwrap();
    assert!(setup.call("get_current_time", json!({})).await.contains("1970-01-01"));
}

#[tokio::test]
async fn a_stop_counts_at_once_for_the_next_call() {
    let setup = Setup::new();
    for _ in 0..20 {
        assert!(setup.call("get_current_time", json!({})).await.contains("1970-01-01"));
        stop(setup.gate.emergency());
        assert_eq!(setup.call("get_current_time", json!({})).await, STOPPED);
        setup.gate.emergency().say(None).unwrap();
    }
}

/// Whenever that happens: what is recorded of a call begins with what it was about to do.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_call_that_nobody_waits_for_any_more_is_recorded_whole() {
    const CALLS: u64 = 60;
    let setup = Setup::new();
    let content = "x".repeat(400_000);
    for number in 0..CALLS {
        let call = setup.call("write", json!({"path": "new.txt", "content": content}));
        let _ = timeout(Duration::from_micros(number * 200), call).await;
    }
    let deadline = Instant::now() + Duration::from_mins(1);
    loop {
        let entries = setup.entries();
        let over = entries.iter().filter(|entry| entry.status != Status::Running).count();
        if over as u64 == CALLS {
            break;
        }
        assert!(Instant::now() < deadline, "{over} of {} are over", entries.len());
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
