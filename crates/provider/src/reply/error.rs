//! Errors, as each format's clients expect them.

use serde_json::{Value, json};

use crate::Format;

/// The body of an error with this HTTP status. `kind` is our type of it, such as `rate_limited`.
pub fn error(format: Format, status: u16, kind: &str, message: &str) -> Value {
    match format {
        Format::OpenAi | Format::OpenAiResponses => {
            let group = openai(status);
            json!({"error": {"message": message, "type": group, "param": null, "code": kind}})
        }
        Format::Anthropic => {
            let details = json!({"error_code": kind});
            let group = anthropic(status);
            let error = json!({"type": group, "message": message, "details": details});
            json!({"type": "error", "error": error})
        }
        Format::Gemini => {
            let info = json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": kind,
                "domain": "toolgate",
            });
            let group = gemini(status);
            json!({"error": {
                "code": status, "message": message, "status": group, "details": [info],
            }})
        }
        Format::Mcp => {
            let content = json!([{"type": "text", "text": format!("{kind}: {message}")}]);
            json!({"content": content, "isError": true})
        }
    }
}

const fn openai(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}

const fn anthropic(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        504 => "timeout_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

const fn gemini(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
