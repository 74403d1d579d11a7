//! Calls, one by one.

use serde_json::{Value, json};

use crate::{
    helper::{SHARED, SHARED_TEXT, SLEEPS},
    turn::Turn,
};

/// The events of a stream end with the outcome.
pub(crate) fn outcome(stream: &str) -> Value {
    let (_, last) = stream.rsplit_once("event: outcome\ndata: ").unwrap_or_else(|| {
        panic!("no outcome in {stream}");
    });
    serde_json::from_str(last.lines().next().unwrap()).unwrap()
}

pub(crate) async fn read(turn: &mut Turn) {
    let caller = turn.caller();
    let outcome = turn.call(&caller, ("read", json!({"path": SHARED})), (200, "")).await;
    assert_eq!(
        outcome["result"]["text"].as_str().or(outcome["result"].as_str()),
        Some(SHARED_TEXT),
        "{outcome}"
    );
}

pub(crate) async fn write_and_edit(turn: &mut Turn) {
    let (caller, path) = (turn.caller(), turn.file());
    let lines = turn.random.below(200);
    let text =
        format!("one {}\n{}", turn.name(), "and so on\n".repeat(usize::try_from(lines).unwrap()));
    let args = json!({"path": path, "content": text});
    turn.call(&caller, ("write", args), (200, "")).await;
    if turn.random.tossed() {
        let args = json!({"path": path, "oldText": "one ", "newText": "two "});
        turn.call(&caller, ("edit", args), (200, "")).await;
        let args = json!({"path": path, "oldText": "one ", "newText": "two "});
        turn.call(&caller, ("edit", args), (500, "execution_error")).await;
    }
    let outcome = turn.call(&caller, ("read", json!({"path": path, "limit": 1})), (200, "")).await;
    assert!(outcome["result"].to_string().contains(&turn.name()), "{outcome}");
}

pub(crate) async fn tasks(turn: &mut Turn) {
    let caller = turn.caller();
    let args = json!({"title": format!("task {}", turn.name())});
    let added = turn.call(&caller, ("add_task", args), (200, "")).await;
    let id = added["result"]["task_id"].clone();
    assert!(!id.is_null(), "{added}");
    turn.call(&caller, ("list_tasks", json!({"status": "pending"})), (200, "")).await;
    turn.call(&caller, ("complete_task", json!({"task_id": id})), (200, "")).await;
}

pub(crate) async fn notes(turn: &mut Turn) {
    let caller = turn.caller();
    let name = turn.name();
    let args = json!({"title": format!("note {name}"), "content": "kept"});
    turn.call(&caller, ("save_note", args), (200, "")).await;
    let found = turn.call(&caller, ("search_notes", json!({"query": name})), (200, "")).await;
    assert!(found["result"].to_string().contains(&name), "{found}");
}

pub(crate) async fn look_around(turn: &mut Turn) {
    const PAGES: [&str; 9] = [
        "/v1/tools",
        "/v1/calls?limit=5",
        "/v1/sessions?limit=5",
        "/v1/approvals",
        "/v1/permissions",
        "/v1/tokens?limit=5",
        "/v1/agents",
        "/v1/stats",
        "/v1/models",
    ];
    let caller = turn.caller();
    for _ in 0..2 {
        let page = *turn.random.of(&PAGES);
        // The owner's alone.
        let token =
            if page == "/v1/stats" { turn.site.owner.clone() } else { caller.token.clone() };
        turn.get(&token, ("GET", page), None, 200).await;
    }
    turn.call(&caller, ("get_current_time", json!({})), (200, "")).await;
}

pub(crate) async fn wrong(turn: &mut Turn) {
    let caller = turn.caller();
    // Each time another one: nobody may fill memory with names.
    let unknown = format!("unknown_{}", turn.name().replace('-', "_"));
    turn.call(&caller, (&unknown, json!({})), (404, "tool_not_available")).await;
    let (tool, args, expected) = match turn.random.below(5) {
        0 => ("read", json!({"pth": SHARED}), (400, "validation_error")),
        1 => ("write", json!({"path": [], "content": "x"}), (400, "validation_error")),
        2 => ("read", json!({"path": "none.txt"}), (404, "file_not_found")),
        3 => ("read", json!({"path": "../../../etc/passwd"}), (403, "path_not_allowed")),
        _ => ("complete_task", json!({"task_id": "none"}), (400, "validation_error")),
    };
    turn.call(&caller, (tool, args), expected).await;
}

/// As clients do that keep their connections.
pub(crate) async fn on_one_connection(turn: &mut Turn) {
    let caller = turn.caller();
    let request = |turn: &Turn| {
        turn.calling(&caller, "read", &json!({"path": SHARED})).header("connection", "keep-alive")
    };
    let mut stream = turn.open(&request(turn)).await;
    for _ in 0..turn.random.below(5) {
        is_read(&stream.answer().await);
        turn.site.sent(turn.kind);
        stream.send(&request(turn)).await;
    }
    is_read(&stream.answer().await);
    if turn.random.tossed() {
        turn.keep(stream);
    }
}

fn is_read((head, body): &(String, String)) {
    assert!(
        head.starts_with("HTTP/1.1 200 ") && body.contains(SHARED_TEXT.trim()),
        "{head} {body}"
    );
}

pub(crate) async fn exec(turn: &mut Turn) {
    let (caller, name) = (turn.caller(), turn.name());
    let args = json!({"command": format!("echo {name}")});
    let outcome = turn.call(&caller, ("exec", args), (200, "")).await;
    assert_eq!(outcome["result"]["stdout"], format!("{name}\n"), "{outcome}");
}

pub(crate) async fn told_as_it_runs(turn: &mut Turn) {
    let caller = turn.caller();
    let args = json!({"command": "for i in 1 2 3; do echo $i; sleep 0.05; done"});
    let request = turn.calling(&caller, "exec", &args).header("accept", "text/event-stream");
    let answer = turn.send(request).await;
    let outcome = outcome(&answer.text());
    assert_eq!(outcome["result"]["stdout"], "1\n2\n3\n", "{outcome}");
}

pub(crate) async fn undo(turn: &mut Turn) {
    let caller = turn.caller();
    let path = format!("w{}/{}.new", turn.worker, turn.number);
    let args = json!({"path": path, "content": "soon gone\n"});
    let wrote = turn.call(&caller, ("write", args), (200, "")).await;
    let call = format!("/v1/calls/{}/undo", wrote["meta"]["call_id"].as_str().unwrap());
    turn.site.made("undo");
    turn.get(&caller.token, ("POST", &call), Some(json!({})), 200).await;
    turn.call(&caller, ("read", json!({"path": path})), (404, "file_not_found")).await;
    // Repeating it changes nothing more.
    turn.site.made("undo");
    let again = turn.get(&caller.token, ("POST", &call), Some(json!({})), 200).await;
    assert_eq!(again["result"]["restored"], json!([]), "{again}");
}

pub(crate) async fn cancel(turn: &mut Turn) {
    let caller = turn.caller();
    let args = json!({"command": SLEEPS});
    let request = turn.calling(&caller, "exec", &args).header("accept", "text/event-stream");
    let mut stream = turn.open(&request).await;
    let head = stream.until("it has started").await.to_ascii_lowercase();
    let id = head.lines().find_map(|line| line.strip_prefix("toolgate-call-id: ")).unwrap();
    turn.get(&caller.token, ("POST", &format!("/v1/calls/{id}/cancel")), None, 200).await;
    let outcome = outcome(&stream.end().await);
    assert_eq!(outcome["error_type"], "cancelled", "{outcome}");
}
