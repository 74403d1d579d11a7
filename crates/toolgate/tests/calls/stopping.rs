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

/// Letters in no order, so that an automaton meets a new state at almost every byte.
fn noise(bytes: usize) -> String {
    let mut state = 1_u32;
    let letters = (0..bytes).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + (state >> 24) as u8 % 4)
    });
    letters.collect()
}

/// Waits until no thread works for a call any more.
async fn idle(setup: &Setup) {
    let idle = async {
        while setup.gate.stats().running > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(5), idle).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_ends_with_its_time_and_with_a_stop() {
    let config = "[limits.timeouts]\ngrep = \"500ms\"\napply_patch = \"500ms\"";
    let setup = Setup::with(With { config, ..With::default() });
    std::fs::write(setup.path("long.txt"), noise(5_000_000)).unwrap();
    std::fs::write(setup.path("lines.txt"), "a\n".repeat(200_000)).unwrap();
    let lines = " a\n".repeat(100_000);
    let patch =
        format!("*** Begin Patch\n*** Update File: lines.txt\n@@\n{lines}-b\n*** End Patch\n");
    let slow = "(a|b).{1,500}(c|d).{1,400}ZZ";
    for (tool, args) in [
        ("grep", json!({"pattern": slow, "path": "long.txt"})),
        ("grep", json!({"pattern": slow, "path": "long.txt", "multiline": true})),
        ("grep", json!({"pattern": slow})),
        ("apply_patch", json!({"input": patch})),
    ] {
        let outcome = setup.call(tool, args).await;
        assert!(outcome.starts_with("timeout: "), "{outcome}");
        idle(&setup).await;
    }
    let setup = setup.again(With::default());
    let caller = toolgate::Caller::owner("main");
    let call = setup.call(&caller, "grep", json!({"pattern": slow, "path": "long.txt"}));
    let stopping = async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        stop(setup.emergency());
    };
    assert_eq!(crate::helper::line(&tokio::join!(call, stopping).0), STOPPED);
    let waited = async {
        while setup.stats().running > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(Duration::from_secs(5), waited).await.unwrap();
}

#[tokio::test]
async fn a_pattern_is_bounded() {
    let setup = Setup::new();
    for (args, expected) in [
        (json!({"pattern": "x".repeat(100_000)}), "is 100000 bytes long, at most 10000"),
        (json!({"pattern": "(((a{100}){100}){100}){100}"}), "exceeds size limit"),
        (json!({"pattern": "x", "glob": "*".repeat(5_000)}), "is 5000 bytes long, at most 1000"),
    ] {
        let outcome = setup.call("grep", args).await;
        assert!(
            outcome.starts_with("validation_error: ") && outcome.contains(expected),
            "{outcome}"
        );
    }
}
