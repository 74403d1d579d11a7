//! Tools of whoever asks.

use agent::Input;
use provider::{Finish, Message, WireResult};
use scripted::Reply;
use serde_json::json;
use tool::{Block, ToolInfo};

use crate::helper::{Setup, owner};

fn weather() -> Vec<ToolInfo> {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    vec![ToolInfo::new("get_weather", "Tell the weather.", schema)]
}

fn asked(text: &str) -> Input {
    Input { tools: weather(), ..Input::text(text) }
}

fn result(id: &str) -> Message {
    Message::Results(vec![WireResult {
        id: Some(id.to_owned()),
        name: Some("get_weather".into()),
        blocks: vec![Block::Text("sunny".into())],
        structured: None,
        is_error: false,
    }])
}

#[tokio::test(flavor = "multi_thread")]
async fn ours_run_first_and_wait_for_theirs() {
    let setup = Setup::configured(
        "",
        vec![
            Reply::calls([
                ("get_weather", json!({"city": "Rome"})),
                ("write", json!({"path": "log.txt", "content": "asked"})),
            ]),
            Reply::text("Sunny, and noted."),
        ],
    )
    .await;
    let answer = setup.run(&owner("main"), asked("how is it in Rome?")).await.unwrap();
    // Only theirs come back; ours have run, once.
    let names: Vec<_> = answer.calls.iter().map(|call| &*call.name).collect();
    assert_eq!((names, answer.finish), (vec!["get_weather"], Finish::Calls));
    assert_eq!(answer.tool_calls.len(), 1);
    assert!(setup.workspace().join("log.txt").exists());
    let id = answer.calls[0].id.clone().unwrap();
    let input = Input { messages: vec![result(&id)], tools: weather(), ..Input::default() };
    let answer = setup.run(&owner("main"), input).await.unwrap();
    assert_eq!(answer.text, "Sunny, and noted.");
    let said = setup.last_request();
    assert!(said.contains("sunny") && said.contains("log.txt"), "{said}");
    assert_eq!(answer.tool_calls.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_never_comes_is_told_to_the_model() {
    let replies =
        vec![Reply::call("get_weather", json!({"city": "Rome"})), Reply::text("Never mind.")];
    let setup = Setup::configured("", replies).await;
    setup.run(&owner("main"), asked("how is it in Rome?")).await.unwrap();
    let answer = setup.run(&owner("main"), asked("forget it")).await.unwrap();
    assert_eq!(answer.text, "Never mind.");
    assert!(setup.last_request().contains("nobody gave a result"), "{}", setup.last_request());
}

#[tokio::test(flavor = "multi_thread")]
async fn who_brings_a_tool_of_the_same_name_gets_its_calls() {
    let setup =
        Setup::configured("", vec![Reply::call("read", json!({"path": "hello.txt"}))]).await;
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}});
    let tools = vec![ToolInfo::new("read", "My own.", schema)];
    let input = Input { tools, ..Input::text("read it") };
    let answer = setup.run(&owner("main"), input).await.unwrap();
    assert_eq!((answer.calls.len(), answer.tool_calls.len()), (1, 0));
}
