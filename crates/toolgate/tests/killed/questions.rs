//! While a question waits for a person.

use scripted::Reply;
use serde_json::{Value, json};

use crate::helper::{INTERRUPTED, Talk, calls};

#[tokio::test(flavor = "multi_thread")]
async fn a_question_outlives_whoever_asked_it() {
    let call = || Reply::call("exec", json!({"command": "echo ran >> ran.txt"}));
    let replies = vec![call(), call(), Reply::text("All done.")];
    let mut talk = Talk::new("", replies).await;
    let first = talk.ask();
    let mut question = Value::Null;
    talk.until("somebody is asked", || {
        question = talk.get("/v1/approvals")["approvals"][0].clone();
        question.is_object()
    });
    talk.server.again();
    drop(first);
    // It can still be answered, and the answer is for the same call when it is made again.
    let id = question["id"].as_str().unwrap().to_owned();
    assert_eq!(talk.get("/v1/approvals")["approvals"][0]["id"], id.as_str());
    let body = json!({"decision": "allow_session"}).to_string();
    let answer = talk.send(("POST", &format!("/v1/approvals/{id}")), &body);
    assert_eq!(answer.status, 403, "who spoke to the agent does not answer: {answer:?}");
    let (code, _, wrong) = talk.run(&["approvals", "allow", &id, "--session"]);
    assert_eq!(code, Some(0), "{wrong}");
    assert_eq!(talk.file("ran.txt"), "", "nothing runs because of an answer alone");
    assert_eq!(talk.answer(), "All done.");
    let told = talk.told();
    let [_, _, (_, interrupted), _, (_, ran)] = &told[..] else { panic!("{told:?}") };
    assert!(interrupted.starts_with(INTERRUPTED), "{interrupted}");
    assert!(!ran.contains("interrupted"), "{ran}");
    assert_eq!(talk.file("ran.txt"), "ran\n");
    let expected = [("exec", "interrupted", "call_1"), ("exec", "success", "call_1")];
    assert_eq!(talk.calls(), calls(&expected));
    assert_eq!(talk.get("/v1/approvals")["approvals"], json!([]));
    talk.is_in_order();
}
