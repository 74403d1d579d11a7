//! Writes a file, as a call of `write`.

use axum::http::Method;
use gate::Request;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use store::Scope;

use super::{
    endpoint::{Asked, Endpoint, Given},
    input::Text,
    output::OfCall,
    tools::from_problem,
};
use crate::{calling, problem::refusals};

/// Where to.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Where {
    /// The file, in the workspace of the agent.
    path: String,
}

refusals! {
    /// Why nothing is written.
    NotWritten { Forbidden, Invalid, NotFound }
}

from_problem!(NotWritten);

/// `POST /v1/files`.
pub(crate) struct Write;

impl Endpoint for Write {
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/v1/files";
    const SUMMARY: &'static str = "Write the body to a file, as a call of `write`.";
    const NEEDS: Option<Scope> = Some(Scope::Call);
    type Path = ();
    type Query = Where;
    type Body = Text;
    type Answer = OfCall;
    type Refusal = NotWritten;

    async fn handle(asked: Asked, given: Given<Self>) -> Result<OfCall, NotWritten> {
        let caller = asked.caller()?;
        let args = json!({"path": given.query.path, "content": given.body.0});
        let request = Request::new("write", args);
        Ok(OfCall(calling::call(&asked.state, &asked.signed, &caller, request).await))
    }
}
