//! Notes and tasks: what Toolgate keeps for its users.

use serde_json::{Value, json};
use toolgate::{CallId, Caller, Outcome};

use crate::helper::{Person, Setup, With, line};

impl Setup {
    /// The result of a call that must succeed, and the call.
    async fn kept(&self, name: &str, args: Value) -> (Value, CallId) {
        let outcome = self.outcome(name, args).await;
        let Outcome::Success { result, meta, .. } = outcome else { panic!("{outcome:?}") };
        (result, meta.call_id)
    }

    async fn result(&self, name: &str, args: Value) -> Value {
        self.kept(name, args).await.0
    }

    /// The titles of everything, done tasks in brackets.
    async fn titles(&self) -> String {
        let notes = self.result("search_notes", json!({"query": "*"})).await;
        let tasks = self.result("list_tasks", json!({})).await;
        let titles = |list: &Value| -> Vec<String> {
            let title = |one: &Value| match one["status"].as_str() {
                Some("completed") => format!("({})", one["title"].as_str().unwrap()),
                _ => one["title"].as_str().unwrap().to_owned(),
            };
            list.as_array().unwrap().iter().map(title).collect()
        };
        [titles(&notes["notes"]), titles(&tasks["tasks"])].concat().join(" ")
    }

    async fn undo(&self, call: CallId) -> Outcome {
        self.gate.undo(&self.caller, call).await
    }
}

fn note(title: &str) -> Value {
    json!({"title": title, "content": "the boat leaves at nine", "tags": ["Travel"]})
}

/// As RFC 9562 writes one.
fn is_uuid(text: &str) -> bool {
    let groups: Vec<_> = text.split('-').map(str::len).collect();
    groups == [8, 4, 4, 4, 12] && text.chars().all(|c| c == '-' || c.is_ascii_hexdigit())
}

#[tokio::test]
async fn a_note_is_saved_and_found() {
    let setup = Setup::new();
    let (saved, call) = setup.kept("save_note", note("Oslo")).await;
    let id = saved["note_id"].as_str().unwrap();
    assert!(is_uuid(id), "{id}");
    assert_eq!(saved["saved"], json!(true));
    let expected = json!({"notes": [{
        "id": id,
        "title": "Oslo",
        "content": "the boat leaves at nine",
        "tags": ["travel"],
        "created_at": "1970-01-01T12:00:00Z",
    }]});
    for query in ["boat", "bo", "oslo", "travel", "*"] {
        let found = setup.result("search_notes", json!({"query": query})).await;
        assert_eq!(found, expected, "{query}");
    }
    let none = setup.result("search_notes", json!({"query": "boat", "tags": ["work"]})).await;
    assert_eq!(none, json!({"notes": []}));
    let entry = setup.gate.journal().entry(call).unwrap().unwrap();
    assert_eq!(entry.tool_name, "save_note");
    assert_eq!(json!(entry.effects), json!(["write"]));
}

#[tokio::test]
async fn a_task_is_added_changed_and_done() {
    let setup = Setup::new();
    let args = json!({"title": "Call Bo", "dueDate": "2026-11-20T15:00", "priority": "high"});
    let added = setup.result("add_task", args).await;
    let id = added["task_id"].as_str().unwrap();
    assert!(is_uuid(id), "{id}");
    assert_eq!(added["created"], json!(true));
    setup.result("add_task", json!({"title": "Later"})).await;
    let task = json!({
        "id": id,
        "title": "Call Bo",
        "due_date": "2026-11-20T15:00:00",
        "status": "pending",
        "priority": "high",
    });
    let listed = setup.result("list_tasks", json!({"limit": 1})).await;
    assert_eq!(listed, json!({"tasks": [task]}));

    let args = json!({"task_id": id.get(..8), "title": "Call Cy", "due_date": "none"});
    let updated = setup.result("update_task", args).await;
    let task = json!({
        "id": id, "title": "Call Cy", "due_date": null, "status": "pending", "priority": "high",
    });
    assert_eq!(updated, json!({"task": task}));
    let done = setup.result("complete_task", json!({"task_id": id})).await;
    assert_eq!(done["task"]["status"], "completed");
    for (status, expected) in
        [("all", "Later Call Cy"), ("pending", "Later"), ("completed", "Call Cy")]
    {
        let listed = setup.result("list_tasks", json!({"status": status})).await;
        let tasks = listed["tasks"].as_array().unwrap();
        let titles: Vec<_> = tasks.iter().map(|task| task["title"].as_str().unwrap()).collect();
        assert_eq!(titles.join(" "), expected);
    }
}

#[tokio::test]
async fn what_is_wrong_is_said_with_what_to_do() {
    let setup = Setup::new();
    for (name, args, expected) in [
        (
            "add_task",
            json!({"title": "x", "due_date": "tomorrow"}),
            "`tomorrow` is not an ISO 8601 date; write `2026-11-20`, or with a time \
             `2026-11-20T15:00` or `2026-11-20T15:00:00+01:00`",
        ),
        (
            "update_task",
            json!({"task_id": "1", "title": "x"}),
            "there is no task `1`; `list_tasks` shows the tasks with their ids",
        ),
        (
            "complete_task",
            json!({"task_id": "0a1b2c3d"}),
            "`task_id`: there is no task `0a1b2c3d`; `list_tasks` shows the tasks with their ids",
        ),
        (
            "update_task",
            json!({"task_id": "0a1b2c3d"}),
            "say what shall change: `title`, `due_date`, `priority` or `status`",
        ),
        ("save_note", json!({"title": " ", "content": ""}), "`title`: missing, but required"),
        (
            "add_task",
            json!({"title": "x".repeat(501)}),
            "`title`: is too long; at most 500 characters",
        ),
        (
            "save_note",
            json!({"title": "x", "content": "", "tags": vec!["x"; 51]}),
            "`tags`: has too many items; at most 50",
        ),
        (
            "list_tasks",
            json!({"status": "done"}),
            "`status`: expected one of `all`, `pending`, `completed`, got `done`",
        ),
    ] {
        let expected = format!("validation_error: invalid arguments for `{name}`: {expected}");
        assert_eq!(setup.call(name, args).await, expected);
    }
    assert_eq!(setup.titles().await, "");
    // Left empty it is left out.
    setup.result("add_task", json!({"title": "x", "due_date": ""})).await;
}

#[tokio::test]
async fn nobody_sees_or_changes_what_belongs_to_somebody_else() {
    let config = "[agents.main.tools]\nprofile = \"full\"\n";
    let mut setup = Setup::with(With { config, ..With::default() });
    setup.result("save_note", note("Oslo")).await;
    let (task, call) = setup.kept("add_task", json!({"title": "Mine"})).await;
    let owner = std::mem::replace(&mut setup.caller, Caller::member("bob", "main"));
    assert_eq!(setup.titles().await, "");
    let refused = setup.call("complete_task", task_id(&task)).await;
    assert!(refused.starts_with("validation_error") && refused.contains("list_tasks"), "{refused}");
    let refused = line(&setup.undo(call).await);
    assert!(refused.contains("there is no call"), "{refused}");
    setup.result("save_note", note("Bobs")).await;
    setup.caller = Caller { agent: "other".into(), session: "other".into(), ..owner };
    assert_eq!(setup.titles().await, "Oslo Mine", "of all agents and sessions of the user");
}

fn task_id(added: &Value) -> Value {
    json!({"task_id": added["task_id"]})
}

#[tokio::test]
async fn members_start_with_a_few_of_these_tools() {
    let setup = Setup::new();
    let view = setup.gate.view(&Caller::member("bob", "main"));
    let has = |name: &str| view.tools().any(|entry| *entry.info().name == *name);
    for (name, expected) in [
        ("save_note", true),
        ("add_task", true),
        ("list_tasks", true),
        ("search_notes", true),
        ("update_task", false),
        ("complete_task", false),
    ] {
        assert_eq!(has(name), expected, "{name}");
    }
}

#[tokio::test]
async fn what_a_call_did_can_be_taken_back_and_that_too() {
    let setup = Setup::new();
    let (_, saved) = setup.kept("save_note", note("n")).await;
    let (task, added) = setup.kept("add_task", json!({"title": "t"})).await;
    let (_, done) = setup.kept("complete_task", task_id(&task)).await;
    assert_eq!(setup.titles().await, "n (t)");

    let refused = setup.undo(added).await;
    assert_eq!(refused.status(), "execution_error");
    let id = task["task_id"].as_str().unwrap();
    let expected = format!("task `{id}` was changed since; take that back first");
    assert_eq!(line(&refused), format!("execution_error: {expected}"));

    let undone = setup.undo(done).await;
    assert_eq!(setup.titles().await, "n t");
    let expected = json!({"undone": done, "restored": ["task `t`"]});
    assert_eq!(line(&undone), expected.to_string());
    setup.undo(undone.meta().call_id).await;
    assert_eq!(setup.titles().await, "n (t)");

    assert_eq!(setup.undo(saved).await.status(), "success");
    assert_eq!(setup.titles().await, "(t)");
    let twice = setup.undo(saved).await;
    assert_eq!(twice.status(), "execution_error", "{twice:?}");

    let entry = setup.gate.journal().entry(undone.meta().call_id).unwrap().unwrap();
    assert_eq!((entry.tool_name.as_str(), json!(entry.effects)), ("undo", json!(["write"])));
}

#[tokio::test]
async fn another_process_can_take_it_back() {
    let setup = Setup::new();
    let (_, call) = setup.kept("save_note", note("n")).await;
    let other = setup.again(With::default());
    assert_eq!(other.undo(&setup.caller, call).await.status(), "success");
    assert_eq!(setup.titles().await, "");
}

#[tokio::test]
async fn the_mode_says_whether_people_are_asked() {
    let always = "[tools]\nask = \"always\"\n";
    for (config, person, expected) in [
        ("", Person::Refuses, "n"),
        (always, Person::Agrees, "n"),
        (always, Person::Refuses, ""),
        (always, Person::Absent, ""),
    ] {
        let setup = Setup::with(With { person, config, ..With::default() });
        let said = setup.call("save_note", note("n")).await;
        assert_eq!(setup.titles().await, expected, "{said}");
        let asked = said.contains("it wants to save the note `n`") || person != Person::Absent;
        assert!(asked, "{said}");
    }
}
