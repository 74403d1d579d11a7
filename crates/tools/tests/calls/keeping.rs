//! What is kept for users, as far as a tool alone can show it; the rest is in calls through the gate.

use std::time::Duration;

use serde_json::{Value, json};
use tool::Rate;

use crate::helper::Setup;

fn needs(name: &str, args: Value) -> String {
    let needs = Setup::plan(name, args);
    needs.needs().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[test]
fn a_plan_says_what_is_looked_at_or_changed() {
    for (name, args, expected) in [
        ("save_note", json!({"title": "A", "content": "b"}), "save the note `A`"),
        ("search_notes", json!({"query": "a"}), "look at notes"),
        ("add_task", json!({"title": "A"}), "add the task `A`"),
        ("list_tasks", json!({}), "look at tasks"),
        ("complete_task", json!({"task_id": "0a1b2c3d"}), "change the task `0a1b2c3d`: completed"),
        (
            "update_task",
            json!({
                "task_id": "0A1B2C3D",
                "title": "B",
                "due_date": "2026-11-20",
                "priority": "high",
                "status": "pending",
            }),
            "change the task `0a1b2c3d`: title `B`, due 2026-11-20, priority high, pending",
        ),
        (
            "update_task",
            json!({"task_id": "0a1b2c3d", "due_date": "none"}),
            "change the task `0a1b2c3d`: never due",
        ),
    ] {
        assert_eq!(needs(name, args), expected, "{name}");
    }
}

#[test]
fn each_has_its_rate_and_time() {
    for (name, per_minute) in [
        ("save_note", Some(30)),
        ("search_notes", None),
        ("add_task", Some(30)),
        ("list_tasks", Some(60)),
        ("update_task", None),
        ("complete_task", None),
    ] {
        let tools = tools::builtin();
        let info = tools.iter().map(|tool| tool.info()).find(|info| *info.name == *name).unwrap();
        let rate = per_minute.map(|calls| Rate { calls, per: Duration::from_mins(1) });
        assert_eq!((info.rate, info.timeout), (rate, Duration::from_secs(10)), "{name}");
    }
}

#[tokio::test]
async fn without_a_place_to_keep_things_calls_say_so() {
    let setup = Setup::with(&[]);
    for (name, args, expected) in [
        ("save_note", json!({"title": "A", "content": "b"}), "no notes are kept here"),
        ("list_tasks", json!({}), "no tasks are kept here"),
    ] {
        assert_eq!(setup.text(name, args).await, format!("execution_error: {expected}"));
    }
}
