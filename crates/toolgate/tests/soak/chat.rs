//! Conversations.

use serde_json::{Value, json};

use crate::{
    client::Request,
    helper::{Caller, SHARED},
    script,
    turn::Turn,
};

/// A message in a session, or in one of its own.
pub(crate) fn says(
    turn: &Turn,
    caller: &Caller,
    (session, message): (Option<&str>, &str),
    stream: &Value,
) -> Request {
    let messages = json!([{"role": "user", "content": message}]);
    let body = json!({"model": "main", "stream": stream, "messages": messages});
    let request = turn.site.request_as(&caller.token, "POST", "/v1/chat/completions").json(&body);
    match session {
        Some(session) => request.header("toolgate-session", session),
        None => request,
    }
}

/// Some calls, and a message that makes them.
pub(crate) fn busy(turn: &mut Turn) -> String {
    let path = turn.file();
    let all = [
        ("read", json!({"path": SHARED})),
        ("write", json!({"path": path, "content": "by an agent\n"})),
        ("read", json!({"path": "none.txt"})),
        ("list_tasks", json!({})),
        ("exec", json!({"command": "echo hello"})),
    ];
    let count = turn.random.below(all.len() as u64 + 1);
    let calls = &all[..usize::try_from(count).unwrap()];
    for (tool, _) in calls {
        turn.site.made(tool);
    }
    script::calls(calls)
}

/// A conversation that some have a name for.
fn named(turn: &mut Turn) -> Option<String> {
    turn.random.tossed().then(|| format!("chat-{}", turn.name()))
}

pub(crate) async fn whole(turn: &mut Turn) {
    let (caller, named) = (turn.caller(), named(turn));
    for _ in 0..=turn.random.below(2) {
        let message = busy(turn);
        let request = says(turn, &caller, (named.as_deref(), &message), &json!(false));
        let answer = turn.send(request).await;
        let said = answer.json();
        assert_eq!(answer.status, 200, "{said}");
        assert_eq!(said["choices"][0]["message"]["content"], script::END, "{said}");
    }
}

pub(crate) async fn streamed(turn: &mut Turn) {
    let (caller, message, named) = (turn.caller(), busy(turn), named(turn));
    let request = says(turn, &caller, (named.as_deref(), &message), &json!(true));
    let answer = turn.send(request).await;
    let text = answer.text();
    assert_eq!(answer.status, 200, "{text}");
    let pieces = text.lines().filter_map(|line| line.strip_prefix("data: {"));
    let pieces = pieces.map(|rest| serde_json::from_str::<Value>(&format!("{{{rest}")).unwrap());
    let said = pieces
        .filter_map(|piece| piece["choices"][0]["delta"]["content"].as_str().map(str::to_owned));
    assert_eq!(said.collect::<String>(), script::END, "{text}");
    assert!(text.trim_end().ends_with("data: [DONE]"), "{text}");
}

/// The same from clients of other vendors.
pub(crate) async fn other_formats(turn: &mut Turn) {
    let (caller, message) = (turn.caller(), busy(turn));
    let (path, body) = if turn.random.tossed() {
        let messages = json!([{"role": "user", "content": message}]);
        ("/v1/messages", json!({"model": "main", "max_tokens": 1_000, "messages": messages}))
    } else {
        ("/v1/responses", json!({"model": "main", "input": message}))
    };
    let said = turn.get(&caller.token, ("POST", path), Some(body), 200).await;
    assert!(said.to_string().contains(script::END), "{said}");
}

pub(crate) async fn session(turn: &mut Turn) {
    let caller = turn.caller();
    let key = format!("agent:main:talk-{}", turn.name());
    let messages = format!("/v1/sessions/{key}/messages");
    for _ in 0..=turn.random.below(3) {
        let message = busy(turn);
        let body = json!({"message": message});
        let said = turn.get(&caller.token, ("POST", &messages), Some(body), 200).await;
        assert!(said.to_string().contains(script::END), "{said}");
    }
    let told = turn.get(&caller.token, ("GET", &format!("{messages}?tools=true")), None, 200).await;
    assert!(told.to_string().contains(script::END), "{told}");
    turn.get(&caller.token, ("PATCH", &path(&key)), Some(json!({"label": "old"})), 200).await;
    turn.get(&caller.token, ("DELETE", &path(&key)), None, 200).await;
    turn.get(&caller.token, ("GET", &path(&key)), None, 404).await;
}

fn path(key: &str) -> String {
    format!("/v1/sessions/{key}")
}

/// Is removed while the agent still speaks.
pub(crate) async fn sent_and_removed(turn: &mut Turn) {
    let caller = turn.caller();
    let name = format!("short-{}", turn.name());
    let request = says(turn, &caller, (Some(&name), &script::slowly()), &json!(true));
    let mut stream = turn.open(&request).await;
    stream.until("All ").await;
    turn.get(&caller.token, ("DELETE", &path(&format!("agent:main:{name}"))), None, 200).await;
    stream.end().await;
}

pub(crate) async fn stopped(turn: &mut Turn) {
    let caller = turn.caller();
    let name = format!("stop-{}", turn.name());
    let request = says(turn, &caller, (Some(&name), &script::slowly()), &json!(true));
    let mut stream = turn.open(&request).await;
    stream.until("All ").await;
    let key = path(&format!("agent:main:{name}"));
    turn.get(&caller.token, ("POST", &format!("{key}/stop")), None, 200).await;
    stream.end().await;
    let session = turn.get(&caller.token, ("GET", &key), None, 200).await;
    assert_eq!(session["state"], "interrupted", "{session}");
}

pub(crate) async fn failing(turn: &mut Turn) {
    let caller = turn.caller();
    let request = says(turn, &caller, (None, &script::failing()), &json!(false));
    let answer = turn.send(request).await;
    assert_eq!(answer.status, 503, "{}", answer.text());
    let body = json!({"model": "nobody", "messages": [{"role": "user", "content": "x"}]});
    turn.get(&caller.token, ("POST", "/v1/chat/completions"), Some(body), 404).await;
}
