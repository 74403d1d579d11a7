//! What is sent, exactly as a revision wants it, and what has to come back.

use std::ops::Range;

use anyhow::{Context as _, Result, bail, ensure};
use clap::ValueEnum;
use serde::Deserialize;
use serde_json::{Value, json};

/// Ids have ten digits, so that a request always has the same length.
const FIRST_ID: u64 = 1_000_000_000;

/// A revision of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Revision {
    /// Everything travels with every request.
    #[value(name = "2026-07-28")]
    Stateless,
    /// `initialize`, then perhaps a session.
    #[value(name = "2025-11-25")]
    Initialized,
}

impl Revision {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Stateless => "2026-07-28",
            Self::Initialized => "2025-11-25",
        }
    }
}

/// Where a server is, and how to get in.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// Host and port.
    pub(crate) address: String,
    pub(crate) token: Option<String>,
}

/// A call that can be sent again and again.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) revision: Revision,
    pub(crate) tool: String,
    pub(crate) args: Value,
    /// What the tool says, if that is known.
    pub(crate) text: Option<String>,
}

/// The bytes of a request; only its id changes.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    bytes: Vec<u8>,
    id: Range<usize>,
}

impl Call {
    /// The request to `endpoint`, in the session if there is one.
    pub(crate) fn request(&self, endpoint: &Endpoint, session: Option<&str>) -> Request {
        let Self { revision, tool, args, text: _ } = self;
        let mut headers = vec![("MCP-Protocol-Version", revision.name())];
        let params = match revision {
            Revision::Stateless => {
                headers.extend([("Mcp-Method", "tools/call"), ("Mcp-Name", tool)]);
                let meta = json!({
                    "io.modelcontextprotocol/protocolVersion": revision.name(),
                    "io.modelcontextprotocol/clientInfo": {"name": "mcp-bench", "version": "1"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                });
                json!({"name": tool, "arguments": args, "_meta": meta})
            }
            Revision::Initialized => {
                headers.extend(session.map(|id| ("Mcp-Session-Id", id)));
                json!({"name": tool, "arguments": args})
            }
        };
        Request::new(endpoint, &headers, "tools/call", &params)
    }

    /// What the tool said, if `body` is an answer to the call with this `id`, and the right one.
    pub(crate) fn check(&self, id: u64, body: &[u8]) -> Result<String> {
        let answer: Answer = serde_json::from_slice(body)?;
        ensure!(answer.id == Some(FIRST_ID + id), "it is the answer to another call");
        let result = answer.result.context("it has no result")?;
        ensure!(!result.is_error, "the tool failed");
        if self.revision == Revision::Stateless {
            ensure!(result.result_type.as_deref() == Some("complete"), "it is not complete");
        }
        let text: String = result.content.into_iter().filter_map(|block| block.text).collect();
        ensure!(!text.is_empty(), "it is empty");
        match &self.text {
            Some(expected) if text != *expected => bail!("`{expected}` was expected"),
            Some(_) | None => Ok(text),
        }
    }
}

impl Request {
    /// `initialize`, as the revision before the stateless one wants it.
    pub(crate) fn initialize(endpoint: &Endpoint) -> Self {
        let params = json!({
            "protocolVersion": Revision::Initialized.name(),
            "capabilities": {},
            "clientInfo": {"name": "mcp-bench", "version": "1"},
        });
        Self::new(endpoint, &[], "initialize", &params)
    }

    fn new(endpoint: &Endpoint, headers: &[(&str, &str)], method: &str, params: &Value) -> Self {
        let before = r#"{"jsonrpc":"2.0","id":"#;
        let after = format!(r#","method":"{method}","params":{params}}}"#);
        let bytes = post(endpoint, headers, &format!("{before}{FIRST_ID}{after}"));
        let end = bytes.len() - after.len();
        Self { bytes, id: end - FIRST_ID.to_string().len()..end }
    }

    /// The whole request with this `id`.
    pub(crate) fn bytes(&mut self, id: u64) -> &[u8] {
        let digits = (FIRST_ID + id).to_string();
        self.bytes.splice(self.id.clone(), digits.bytes());
        &self.bytes
    }
}

/// `notifications/initialized`, which has no id.
pub(crate) fn initialized(endpoint: &Endpoint, session: Option<&str>) -> Vec<u8> {
    let mut headers = vec![("MCP-Protocol-Version", Revision::Initialized.name())];
    headers.extend(session.map(|id| ("Mcp-Session-Id", id)));
    post(endpoint, &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
}

fn post(endpoint: &Endpoint, headers: &[(&str, &str)], body: &str) -> Vec<u8> {
    let Endpoint { address, token } = endpoint;
    let bearer = token.as_ref().map(|token| format!("Bearer {token}"));
    let bearer = bearer.iter().map(|bearer| ("Authorization", bearer.as_str()));
    let more = headers.iter().copied().chain(bearer);
    let more: Vec<_> = more.map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{}Content-Length: {}\r\n\r\n",
        more.concat(),
        body.len()
    );
    (head + body).into()
}

#[derive(Deserialize)]
struct Answer {
    id: Option<u64>,
    result: Option<CallResult>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    result_type: Option<String>,
    content: Vec<Block>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Block {
    text: Option<String>,
}
