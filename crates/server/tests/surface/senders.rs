//! Senders and channels that a trusted client names.

use serde_json::json;
use store::Scope;

use crate::{
    client::{Answer, send},
    helper::{Site, Who},
};

const RULES: &str = "[tools.by_sender.eve]\ndeny = ['read']\n[tools.by_sender.'slack:ann']\ndeny = ['ls']\n\
                     [tools.by_channel.slack]\ndeny = ['grep']\n";
const BRIDGE: &[Scope] = &[Scope::Call, Scope::Senders];

async fn call(site: &Site, token: &str, tool: &str, names: &[(&str, &str)]) -> Answer {
    let request = site.request_as(token, "POST", &format!("/v1/tools/{tool}"));
    let request = names.iter().fold(request, |request, (name, value)| request.header(name, value));
    let args = match tool {
        "read" => json!({"path": "hello.txt"}),
        "grep" => json!({"pattern": "x"}),
        _ => json!({}),
    };
    send(request.json(&args)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_about_senders_and_channels_hold_for_what_a_trusted_token_names() {
    let site = Site::with(RULES).await;
    let bridge = site.token(Who { scopes: Some(BRIDGE), ..Who::OWNER }).await;
    let eve = ("toolgate-sender", "eve");
    let slack = ("toolgate-channel", "slack");
    for (tool, names, status) in [
        ("read", &[][..], 200),
        ("read", &[("toolgate-sender", "ann")], 200),
        ("read", &[eve], 404),
        ("read", &[("toolgate-sender", "EVE")], 404),
        ("grep", &[], 200),
        ("grep", &[slack], 404),
        ("ls", &[("toolgate-sender", "ann")], 200),
        ("ls", &[("toolgate-sender", "ann"), slack], 404),
        // What is closed to calls over HTTP stays closed, whatever channel is named.
        ("exec", &[slack], 404),
        ("exec", &[], 404),
    ] {
        let answer = call(&site, &bridge, tool, names).await;
        assert_eq!(answer.status, status, "{tool} {names:?}: {answer:?}");
    }
    let entries = site.entries();
    let named = entries.iter().find(|entry| entry.sender.as_deref() == Some("ann")).unwrap();
    assert_eq!(named.user_id, "owner");
    assert!(entries.iter().any(|entry| entry.channel.as_deref() == Some("slack")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sender_is_never_the_owner_and_only_takes_away() {
    let site = Site::with("[tools.by_channel.http]\nallow = ['*']").await;
    let bridge = site.token(Who { scopes: Some(BRIDGE), ..Who::OWNER }).await;
    let gateway = json!({"action": "config.get"});
    let request = |sender: Option<&str>| {
        let request = site.request_as(&bridge, "POST", "/v1/tools/gateway").json(&gateway);
        send(match sender {
            Some(sender) => request.header("toolgate-sender", sender),
            None => request,
        })
    };
    assert_ne!(request(None).await.status, 403);
    let refused = request(Some("stranger")).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(refused.text().contains("owner senders"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_the_scope_is_refused_whatever_it_asks() {
    let site = Site::with(RULES).await;
    for (name, value) in [("toolgate-sender", "ann"), ("toolgate-channel", "slack")] {
        for (method, path) in [
            ("POST", "/v1/tools/read"),
            ("GET", "/v1/tools"),
            ("GET", "/v1/calls"),
            ("POST", "/v1/chat/completions"),
            ("POST", "/v1/sessions/agent:main:one/messages"),
            ("POST", "/mcp"),
        ] {
            let request = site.request(method, path).header(name, value).json(&json!({}));
            let refused = send(request).await;
            assert_eq!(refused.status, 403, "{method} {path}: {refused:?}");
            assert!(refused.text().contains("may not name a sender"), "{refused:?}");
        }
    }
    let mut socket = site.socket(&site.owner).await;
    let asked = json!({"name": "read", "arguments": {"path": "hello.txt"}, "sender": "ann"});
    let (_, refused) = socket.error("tools.call", asked).await;
    assert!(refused.contains("may not name a sender"), "{refused}");
    let made = site.post("/v1/tokens", json!({"name": "x", "scopes": ["call", "senders"]})).await;
    assert_eq!(made.status, 403, "a program gives no more than it has: {made:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_conversation_and_a_socket_have_senders_too() {
    let site = Site::with(RULES).await;
    let bridge = site.token(Who { scopes: Some(BRIDGE), ..Who::OWNER }).await;
    let mut socket = site.socket(&bridge).await;
    let asked = |sender: &str| json!({"name": "read", "arguments": {"path": "hello.txt"}, "sender": sender});
    let allowed = socket.get("tools.call", asked("ann")).await;
    assert_eq!(allowed["status"], "success", "{allowed}");
    let refused = socket.get("tools.call", asked("eve")).await;
    assert_eq!(refused["error_type"], "tool_not_available", "{refused}");
    let body =
        json!({"model": "main", "messages": [{"role": "user", "content": "what time is it"}]});
    let request = site.request_as(&bridge, "POST", "/v1/chat/completions");
    let request = request.header("toolgate-sender", "ann").header("toolgate-channel", "slack");
    let answer = send(request.json(&body)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let entry = site.entries().pop().unwrap();
    let named: (Option<&str>, Option<&str>) = (entry.sender.as_deref(), entry.channel.as_deref());
    assert_eq!(named, (Some("ann"), Some("slack")), "{}", entry.tool_name);
    assert_eq!(entry.tool_name, "get_current_time");
    for sender in ["", " ", "a\u{7f}b", "a\u{200b}b"] {
        let (_, message) = socket.error("tools.call", asked(sender)).await;
        assert!(message.contains("is no name of a sender"), "{sender:?}: {message}");
    }
}
