//! Tools of whoever asks.

use std::time::Duration;

use agent::Input;
use provider::{Finish, Message, Options, ToolChoice, WireResult};
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

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_reports_meanwhile_costs_no_result() {
    let setup = Setup::answering("", |request| {
        let said = request.body.to_string();
        if said.contains("Another agent started you") {
            return Reply::text("I found a pen.").after(Duration::from_millis(200));
        }
        match said.matches("tool_call_id").count() {
            0 => Reply::call("sessions_spawn", json!({"task": "look"})),
            1 => Reply::calls([
                ("get_weather", json!({"city": "Rome"})),
                ("read", json!({"path": "hello.txt"})),
            ]),
            _ => Reply::text("All is told."),
        }
    })
    .await;
    let answer = setup.run(&owner("main"), asked("both, please")).await.unwrap();
    let id = answer.calls[0].id.clone().unwrap();
    // The report comes while the client still looks at the sky.
    for _ in 0..600 {
        if format!("{:?}", setup.history("main").await).contains("a pen") {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let input = Input { messages: vec![result(&id)], tools: weather(), ..Input::default() };
    assert_eq!(setup.run(&owner("main"), input).await.unwrap().text, "All is told.");
    let said = setup.last_request();
    for part in ["sunny", "hello", "I found a pen."] {
        assert!(said.contains(part), "{part} in {said}");
    }
    assert!(!said.contains("nobody gave a result"), "{said}");
    // What their tools bring in is nobody's that we know.
    let read = setup.gate.sources(&owner("main")).await.unwrap();
    assert_eq!(&*read, ["the client's tool `get_weather`".to_owned()]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_must_be_called_must_be_called_once() {
    let replies = vec![Reply::call("read", json!({"path": "hello.txt"})), Reply::text("hello")];
    let setup = Setup::configured("", replies).await;
    let options = Options { tool_choice: ToolChoice::Required, ..Options::default() };
    let input = Input { options, ..Input::text("read it") };
    setup.run(&owner("main"), input).await.unwrap();
    let asked = setup.model.requests();
    assert!(asked[0].body["tool_choice"] == "required", "{}", asked[0].body);
    assert!(asked[1].body["tool_choice"] != "required", "{}", asked[1].body);
}
