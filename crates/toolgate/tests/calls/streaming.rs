//! Partial results.

use std::sync::{Arc, Mutex};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolgate::{BoxFuture, Request, Tool, ToolContext, ToolError, ToolResult, UpdateSink, Updates};

use crate::helper::{Setup, With};

/// Say something piece by piece, and fail.
#[derive(Deserialize, JsonSchema)]
struct Talk {}

impl Tool for Talk {
    const NAME: &'static str = "talk";

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        for piece in ["the key is AKIAIOSF", "ODNN7EXAMPLE and ", "that is ", "it"] {
            ctx.update(piece).await;
        }
        Err(ToolError::failed("it broke with Bearer abcdefghijklmnopqrstuvwxyz"))
    }
}

#[derive(Debug, Default)]
struct Heard(Mutex<String>);

impl UpdateSink for Heard {
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        self.0.lock().unwrap().push_str(text);
        Box::pin(std::future::ready(()))
    }
}

#[tokio::test]
async fn secrets_are_taken_out_of_partial_results_and_errors_too() {
    let setup = Setup::with(With { more: |builder| builder.tool::<Talk>(), ..With::default() });
    let heard = Arc::new(Heard::default());
    let mut request = Request::new("talk", json!({}));
    request.updates = Updates::to(heard.clone());
    let outcome = serde_json::to_string(&setup.gate.run(&setup.caller, request).await).unwrap();
    assert!(outcome.contains("it broke with Bearer ⟦redacted:bearer:"), "{outcome}");
    let heard = heard.0.lock().unwrap();
    assert!(heard.starts_with("the key is ⟦redacted:aws_key:"), "{heard}");
    assert!(heard.ends_with(" and that is it"), "{heard}");
}
