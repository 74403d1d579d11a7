//! An agent wants the server to start again, and a person agrees.

use scripted::Reply;
use serde_json::{Value, json};

use crate::helper::Talk;

#[tokio::test(flavor = "multi_thread")]
async fn a_server_starts_again_when_a_person_agrees() {
    let replies = vec![
        Reply::call("gateway", json!({"action": "restart"})),
        Reply::text("It starts again."),
        Reply::text("Here I am."),
    ];
    let talk = Talk::new("", replies).await;
    let first = talk.ask();
    let mut question = Value::Null;
    talk.until("somebody is asked", || {
        question = talk.get("/v1/approvals")["approvals"][0].clone();
        question.is_object()
    });
    let (code, _, wrong) = talk.run(&["approvals", "allow", question["id"].as_str().unwrap()]);
    assert_eq!(code, Some(0), "{wrong}");
    // What was under way comes to its end.
    let answer = first.join().unwrap().unwrap();
    assert_eq!(answer.json()["choices"][0]["message"]["content"], "It starts again.", "{answer:?}");
    // Nobody else starts it: the process itself begins anew, at the same place, and knows of no call.
    talk.until("another server", || {
        let page = talk.try_send(("GET", "/metrics"), "");
        page.is_some_and(|page| page.status == 200 && !page.body.contains("tool=\"gateway\""))
    });
    assert!(talk.server.log().contains("Starting again"));
    assert_eq!(talk.answer(), "Here I am.");
    talk.is_in_order();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_configuration_is_seen_and_taken_over_through_the_server() {
    let replies = vec![
        Reply::call("gateway", json!({"action": "config.get", "path": "agents.main.model"})),
        Reply::text("seen"),
    ];
    let talk = Talk::new("", replies).await;
    assert_eq!(talk.answer(), "seen");
    let told = talk.told();
    assert!(told.last().unwrap().1.contains("script/m"), "{told:?}");
}
