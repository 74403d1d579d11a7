//! `OpenAI` chat completions and responses, and all that imitate them.

use super::vendor::Vendor;

pub(super) const CHAT: Vendor = Vendor {
    path: |_| "/chat/completions".to_owned(),
    auth: bearer,
    headers: &[],
    too_long: TOO_LONG,
    bad_key: &["invalid_api_key"],
};

pub(super) const RESPONSES: Vendor = Vendor {
    path: |_| "/responses".to_owned(),
    auth: bearer,
    headers: &[],
    too_long: TOO_LONG,
    bad_key: &["invalid_api_key"],
};

fn bearer(key: &str) -> (&'static str, String) {
    ("authorization", format!("Bearer {key}"))
}

/// Those who imitate it have words of their own, and those who pass requests on have everybody's.
const TOO_LONG: &[&str] = &[
    "context_length_exceeded",
    "maximum context length",
    "maximum model length",
    "exceed_context_size_error",
    "exceeds the available context size",
    "exceeds the context window",
    "exceeds the model's context",
    "context length exceeded",
    "context window exceeded",
    "input is too long",
    "prompt is too long",
    "exceed context limit",
    "exceeds the maximum number of tokens",
];
