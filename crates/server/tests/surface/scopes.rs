//! What a token is for.

use serde_json::{Value, json};
use store::Scope;

use crate::{
    client::send,
    helper::{Site, Who},
};

const fn only(scopes: &'static [Scope]) -> Who {
    Who { scopes: Some(scopes), ..Who::OWNER }
}

/// Every scope, and all the others.
const WITHOUT: [(Scope, &[Scope]); 4] = [
    (Scope::Call, &[Scope::Answer, Scope::Manage, Scope::Elicit]),
    (Scope::Answer, &[Scope::Call, Scope::Manage, Scope::Elicit]),
    (Scope::Manage, &[Scope::Call, Scope::Answer, Scope::Elicit]),
    (Scope::Elicit, &[Scope::Call, Scope::Answer, Scope::Manage]),
];

/// The scope an operation or a method says it needs.
fn scope(value: &Value) -> Option<Scope> {
    value.as_str().map(|name| name.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_operation_refuses_a_token_that_is_not_for_it() {
    let site = Site::new().await;
    let description = site.get("/openapi.json").await.json();
    let mut found = Vec::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let Some(needed) = scope(&operation["security"][0]["token"][0]) else { continue };
            found.push(needed);
            let (_, others) = WITHOUT.into_iter().find(|(scope, _)| *scope == needed).unwrap();
            let path = path.replace(['{', '}'], "");
            let request = |token: &str| {
                site.request_as(token, &method.to_uppercase(), &path).json(&json!({}))
            };
            let answer = send(request(&site.token(only(others)).await)).await;
            assert_eq!(answer.status, 403, "{method} {path}: {answer:?}");
            let named = format!("this needs a token with the scope `{needed}`");
            assert!(answer.text().contains(&named), "{method} {path}: {answer:?}");
            let answer = send(request(&site.token(only(&[])).await)).await;
            assert!(answer.text().contains("it has none, and only reads"), "{path}: {answer:?}");
            let answer = send(request(&site.owner)).await;
            assert!(!answer.text().contains("scope"), "{method} {path}: {answer:?}");
        }
    }
    assert!(found.contains(&Scope::Call) && found.contains(&Scope::Manage), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_refuses_a_token_that_is_not_for_it() {
    let site = Site::new().await;
    let description = site.get("/openapi.json").await.json();
    let methods = description["paths"]["/ws"]["get"]["x-methods"].as_array().unwrap().clone();
    assert!(methods.len() > 10);
    let mut reader = site.socket(&site.token(only(&[])).await).await;
    for method in methods {
        let name = method["name"].as_str().unwrap();
        let (code, message) = reader.error(name, json!({"unknown": 1})).await;
        let Some(needed) = scope(&method["scope"]) else {
            // What is read reaches the params, and those are wrong.
            assert_eq!(code, -32602, "{name}: {message}");
            continue;
        };
        assert_eq!(code, -32003, "{name}: {message}");
        let named = format!("this needs a token with the scope `{needed}`");
        assert!(message.contains(&named), "{name}: {message}");
    }
    assert_eq!(reader.get("sessions.list", json!({})).await["sessions"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_the_scope_answers_nothing_and_the_attempt_is_recorded() {
    let site = Site::with("tools.approvers = ['eve']").await;
    let bob = site.token(Who::member("bob")).await;
    let (call, question) = site.start_asking(&site.token(Who::OWNER).await).await;
    let path = format!("/v1/approvals/{}", question["id"].as_str().unwrap());
    let eve = Who { scopes: Some(&[Scope::Call]), ..Who::member("eve") };
    for (who, status) in [(only(&[Scope::Call, Scope::Manage]), 403), (eve, 404)] {
        let token = site.token(who).await;
        let request = site.request_as(&token, "POST", &path);
        let answer = send(request.json(&json!({"decision": "allow_once"}))).await;
        assert_eq!(answer.status, status, "{answer:?}");
        let last = site.entries().pop().unwrap();
        assert_eq!(last.tool_name, "answer");
        assert!(format!("{last:?}").contains("approval.scope"), "{last:?}");
    }
    // Nor does it see what others ask.
    for token in [&site.token(eve).await, &bob] {
        let list = send(site.request_as(token, "GET", "/v1/approvals")).await.json();
        assert_eq!(list["approvals"], json!([]));
        assert_eq!(send(site.request_as(token, "GET", &path)).await.status, 404);
    }
    let token = site.token(only(&[Scope::Answer])).await;
    let answer = site.request_as(&token, "POST", &path).json(&json!({"decision": "allow_once"}));
    assert_eq!(send(answer).await.status, 200);
    assert_eq!(call.await.unwrap().status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_is_made_with_scopes_and_gives_no_more_than_it_has() {
    let site = Site::new().await;
    let make = async |token: &str, scopes: Value, agents: Value| {
        let body = json!({"name": "x", "scopes": scopes, "agents": agents});
        send(site.request_as(token, "POST", "/v1/tokens").json(&body)).await
    };
    let manage = site.token(only(&[Scope::Manage])).await;
    let asks = site.token(only(&[Scope::Manage, Scope::Answer])).await;
    for (token, scopes, agents, expected) in [
        (&site.owner, json!(null), json!(null), Ok(json!(null))),
        (&site.owner, json!(["call", "elicit"]), json!(null), Err("not by a program")),
        (&site.owner, json!([]), json!(null), Ok(json!([]))),
        (&site.owner, json!(["elicit"]), json!(["main"]), Err("not by a program")),
        (&site.owner, json!(["answer"]), json!(["main"]), Err("cannot have the scope `answer`")),
        (&site.owner, json!(["call", "call"]), json!(null), Err("there twice")),
        (&site.owner, json!(["cal"]), json!(null), Err("unknown variant `cal`")),
        (&manage, json!(null), json!(null), Ok(json!(["manage"]))),
        (&manage, json!(null), json!(["main"]), Ok(json!([]))),
        (&manage, json!(["answer"]), json!(null), Err("has not the scope `answer`")),
        (&manage, json!(["elicit"]), json!(null), Err("not by a program")),
        (&asks, json!(["elicit"]), json!(null), Err("not by a program")),
    ] {
        let answer = make(token, scopes.clone(), agents.clone()).await;
        match expected {
            Ok(expected) => assert_eq!(answer.json()["scopes"], expected, "{scopes} {answer:?}"),
            Err(words) => assert!(answer.text().contains(words), "{scopes} {agents}: {answer:?}"),
        }
    }
    // A browser is in a person's hands.
    let request = site.anonymous("POST", "/v1/tokens").header("toolgate-request", "1");
    let request = request.header("cookie", &site.cookie().await);
    let made = send(request.json(&json!({"name": "x", "scopes": ["call", "elicit"]}))).await;
    assert_eq!(made.json()["scopes"], json!(["call", "elicit"]), "{made:?}");
}
