//! Agents that are made, listed and removed.

use serde_json::{Value, json};

use crate::{
    client::send,
    helper::{Site, Who},
};

fn listed(list: &Value) -> Vec<(&str, &str)> {
    let agents = list["agents"].as_array().unwrap_or_else(|| panic!("{list}"));
    agents.iter().map(|one| (one["id"].as_str().unwrap(), one["from"].as_str().unwrap())).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_makes_agents_and_takes_them_away() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    let before = site.get("/v1/agents").await.json();
    assert_eq!(listed(&before), [("main", "configuration"), ("scout", "configuration")]);
    let helper =
        json!({"id": "helper", "settings": {"description": "helps", "tools": {"deny": ["write"]}}});
    let made = site.post("/v1/agents", helper.clone()).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.json(), json!({"id": "helper", "description": "helps", "from": "api"}));
    let now = site.get("/v1/agents").await.json();
    let expected = [("helper", "api"), ("main", "configuration"), ("scout", "configuration")];
    assert_eq!(listed(&now), expected);
    // It can be spoken to at once, and what is said about it holds.
    let write = || {
        let request = site.request("POST", "/v1/tools/write").header("toolgate-agent", "helper");
        send(request.json(&json!({"path": "a.txt", "content": "x"})))
    };
    assert_eq!(write().await.error(), (404, "tool_not_available".to_owned()));
    let again = json!({"id": "helper", "settings": {"description": "helps more"}});
    let refused = site.post("/v1/agents", again).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.text().contains("`PATCH /v1/agents/{id}` changes it"), "{refused:?}");
    assert_eq!(write().await.status, 404, "nothing is changed");
    let shown = site.get("/v1/agents/helper").await.json();
    assert_eq!(
        shown,
        json!({"id": "helper", "description": "helps", "from": "api", "settings": helper["settings"]})
    );
    let patch = |settings: Value| {
        let request = site.request("PATCH", "/v1/agents/helper");
        send(request.json(&json!({"settings": settings})))
    };
    let changed = patch(json!({"description": "helps more", "tools": {"deny": null}})).await;
    assert_eq!(changed.status, 200, "{changed:?}");
    assert_eq!(
        changed.json()["settings"],
        json!({"description": "helps more", "tools": {}}),
        "what is not named stays, `null` unsets"
    );
    assert_eq!(write().await.status, 200, "it was changed");
    for wrong in [json!({"tools": {"deny": ["writ"]}}), json!({"modle": "x"})] {
        assert_eq!(patch(wrong).await.status, 400);
    }
    assert_eq!(site.get("/v1/agents/helper").await.json(), changed.json());
    let configured = send(site.request("PATCH", "/v1/agents/scout").json(&json!({"settings": {}})));
    assert_eq!(configured.await.status, 409);
    let unknown = send(site.request("PATCH", "/v1/agents/nobody").json(&json!({"settings": {}})));
    assert_eq!(unknown.await.status, 404);
    let mut socket = site.socket(&site.owner).await;
    let over_socket = socket.get("agents.list", json!({})).await;
    assert_eq!(
        over_socket["agents"][0],
        json!({"id": "helper", "description": "helps more", "from": "api"})
    );
    assert_eq!(
        send(site.request("DELETE", "/v1/agents/helper")).await.json(),
        json!({"id": "helper"})
    );
    assert_eq!(send(site.request("DELETE", "/v1/agents/helper")).await.status, 404);
    assert_eq!(write().await.status, 404, "there is no such agent");
    assert_eq!(site.get("/v1/agents").await.json(), before);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_else_makes_agents_and_none_that_make_no_sense() {
    let site = Site::with("[agents.scout]\ndescription = 'looks around'").await;
    let member = site.token(Who::member("bo")).await;
    let agent = site.token(Who { agents: Some(&["scout"]), ..Who::OWNER }).await;
    for token in [&member, &agent] {
        let add = site.request_as(token, "POST", "/v1/agents").json(&json!({"id": "mine"}));
        assert_eq!(send(add).await.status, 403);
        let remove = site.request_as(token, "DELETE", "/v1/agents/scout");
        assert_eq!(send(remove).await.status, 403);
    }
    for (body, expected) in [
        (json!({}), 400),
        (json!({"id": ""}), 400),
        (json!({"id": "a b"}), 400),
        (json!({"id": "../x"}), 400),
        (json!({"id": "x", "setings": {}}), 400),
        (json!({"id": "x", "settings": {"modle": "y"}}), 400),
        (json!({"id": "x", "settings": {"tools": {"allow": ["banana"]}}}), 400),
        (json!({"id": "x", "settings": {"tools": {"deny": ["exce"]}}}), 400),
        (json!({"id": "x", "settings": {"sessions": ["nobody"]}}), 400),
        (json!({"id": "x", "settings": {"subagents": ["nobody"]}}), 400),
        (json!({"id": "x", "settings": {"tools": {"profile": "none"}}}), 400),
        (json!({"id": "x", "settings": []}), 400),
        (json!({"id": "scout"}), 409),
    ] {
        let answer = site.post("/v1/agents", body.clone()).await;
        assert_eq!(answer.status, expected, "{body}: {answer:?}");
    }
    for (id, expected) in [("scout", 409), ("main", 409), ("none", 404)] {
        let answer = send(site.request("DELETE", &format!("/v1/agents/{id}"))).await;
        assert_eq!(answer.status, expected, "{id}: {answer:?}");
    }
    let all = site.get("/v1/agents").await.json();
    assert_eq!(listed(&all), [("main", "configuration"), ("scout", "configuration")]);
    let own = send(site.request_as(&agent, "GET", "/v1/agents")).await.json();
    assert_eq!(listed(&own), [("scout", "configuration")], "only those it may speak to");
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_are_shown_to_the_owner_and_to_nobody_else() {
    let text = "[agents.scout]\nmodel = 'demo'\nprompt = 'Look.'\nlimits.rate = '3/min'\nlimits.time = '5m'\n\
                tools.deny = ['write']\ntools.by_provider.openai.allow = []";
    let site = Site::with(text).await;
    let shown = site.get("/v1/agents/scout").await.json();
    assert_eq!(
        shown["settings"],
        json!({
            "model": "demo",
            "prompt": "Look.",
            "limits": {"rate": "3/min", "time": "300000ms"},
            "tools": {"deny": ["write"], "by_provider": {"openai": {"allow": []}}},
        })
    );
    let member = site.token(Who::member("bo")).await;
    let shown = send(site.request_as(&member, "GET", "/v1/agents/scout")).await.json();
    assert_eq!(shown, json!({"id": "scout", "model": "demo", "from": "configuration"}));
    assert_eq!(site.get("/v1/agents/nobody").await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_problem_with_settings_names_the_agent_and_no_file() {
    let site = Site::with("").await;
    let body = json!({"id": "x", "settings": {"tools": {"deny": ["exce"]}, "modle": 1}});
    let refused = site.post("/v1/agents", body).await.text();
    assert!(refused.contains("agent `x`: unknown key `agents.x.modle`"), "{refused}");
    let body = json!({"id": "x", "settings": {"tools": {"deny": ["exce"]}}});
    let refused = site.post("/v1/agents", body).await.text();
    let expected =
        "agent `x`: `agents.x.tools.deny`: no tool is called `exce`; did you mean `exec`?";
    assert!(refused.contains(expected), "{refused}");
    assert!(!refused.contains("json5"), "{refused}");
}
