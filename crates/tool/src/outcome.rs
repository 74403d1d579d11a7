//! What a caller gets back, in the same format on every surface.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::{
    ArtifactRef, Block, CallId, Changed, Effects, Isolation, Place, ToolError, ToolOutput,
    ToolResult, Usage,
};

/// What the caller gets.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Outcome {
    /// The tool ran, or somebody answered for it.
    Success {
        /// The structured value if there is one, else the text.
        result: Value,
        meta: Meta,
        /// What a model gets.
        #[serde(skip)]
        blocks: Vec<Block>,
        /// What a transcript keeps, where that is something else.
        #[serde(skip)]
        transcript: Option<Vec<Block>>,
    },
    /// It did not run, or it failed.
    Error {
        tool: String,
        error_type: &'static str,
        message: String,
        retryable: bool,
        details: Value,
        meta: Meta,
        /// What a model gets after the message: the output of a call that was ended.
        #[serde(skip)]
        blocks: Vec<Block>,
    },
}

/// For programs and people; never sent to a model.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Meta {
    /// Finds the call in the journal.
    pub call_id: CallId,
    /// From start to end, waiting included.
    pub duration_ms: u64,
    /// Where it ran; absent if nothing ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// How it was isolated, if it ran a command in the sandbox.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Arc<Isolation>>,
    /// Of the plan.
    pub effects: Effects,
    /// Files this call changed, also when it failed.
    pub changed: Vec<Changed>,
    /// Large things it left behind.
    pub artifacts: Vec<ArtifactRef>,
    /// What it cost.
    #[serde(skip_serializing_if = "Usage::is_empty")]
    pub usage: Usage,
    /// Who answered in the tool's place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// Where untrusted content came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub untrusted: Option<String>,
}

impl Meta {
    /// Of a call about which nothing else is known.
    pub fn new(call_id: CallId) -> Self {
        Self {
            call_id,
            duration_ms: 0,
            place: None,
            isolation: None,
            effects: Effects::NONE,
            changed: Vec::new(),
            artifacts: Vec::new(),
            usage: Usage::new(),
            answered_by: None,
            untrusted: None,
        }
    }
}

impl Outcome {
    /// Puts a result and what is known about the call together.
    pub fn new(tool: &str, result: ToolResult, mut meta: Meta) -> Self {
        match result {
            Ok(output) => {
                let text = output.joined_text();
                let ToolOutput { mut blocks, value, artifacts, usage, transcript, .. } = output;
                meta.artifacts = artifacts;
                meta.usage = usage;
                meta.answered_by = output.answered_by;
                meta.untrusted = output.untrusted;
                let result = value.unwrap_or(Value::String(text));
                if !blocks.iter().any(|block| matches!(block, Block::Text(_))) {
                    blocks.insert(0, Block::Text(as_text(&result)));
                }
                Self::Success { result, meta, blocks, transcript }
            }
            Err(error) => Self::failed(tool, error, meta),
        }
    }

    fn failed(tool: &str, mut error: ToolError, mut meta: Meta) -> Self {
        let (mut blocks, mut value) = (Vec::new(), None);
        if let ToolError::Unfinished(unfinished) = &mut error {
            let output = std::mem::take(&mut unfinished.output);
            meta.artifacts = output.artifacts;
            meta.usage = output.usage;
            meta.untrusted = output.untrusted;
            (blocks, value) = (output.blocks, output.value);
        }
        Self::Error {
            tool: tool.to_owned(),
            error_type: error.kind(),
            message: error.to_string(),
            retryable: error.retryable(),
            details: value.unwrap_or_else(|| error.details()),
            meta,
            blocks,
        }
    }

    /// What the journal keeps of a result: the value or the text, or the details of an error.
    pub fn summary(result: &ToolResult) -> Value {
        match result {
            Ok(output) => {
                output.value.clone().unwrap_or_else(|| Value::String(output.joined_text()))
            }
            Err(error) => error.details(),
        }
    }

    /// What is known about the call.
    pub const fn meta(&self) -> &Meta {
        match self {
            Self::Success { meta, .. } | Self::Error { meta, .. } => meta,
        }
    }

    /// The HTTP status it has on that surface.
    pub fn http_status(&self) -> u16 {
        let known = |kind: &str| ToolError::STATUSES.iter().find(|(known, _)| *known == kind);
        match self {
            Self::Success { .. } => 200,
            Self::Error { error_type, .. } => known(error_type).map_or(500, |(_, status)| *status),
        }
    }

    /// `success`, or the `error_type`.
    pub const fn status(&self) -> &'static str {
        match self {
            Self::Success { .. } => "success",
            Self::Error { error_type, .. } => error_type,
        }
    }
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
