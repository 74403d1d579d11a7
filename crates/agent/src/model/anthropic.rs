//! Anthropic messages.

use super::vendor::Vendor;

pub(super) const MESSAGES: Vendor = Vendor {
    path: |_| "/v1/messages".to_owned(),
    auth: |key| ("x-api-key", key.to_owned()),
    headers: &[("anthropic-version", "2023-06-01")],
    too_long: &[
        "prompt is too long",
        "exceed context limit",
        "context window",
        "request_too_large",
        "input is too long",
    ],
    bad_key: &["authentication_error"],
};
