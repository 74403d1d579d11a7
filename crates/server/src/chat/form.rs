//! What is refused before an agent is spoken to, as the client's own provider would say it.

use axum::{body::Body, http::Method, response::Response};
use provider::Format;

use crate::problem::Said;

/// Puts a refusal into the form that whoever speaks at this path understands.
pub(crate) fn put_in_form(method: &Method, path: &str, response: &mut Response) {
    let Some(Said { kind, message }) = response.extensions_mut().remove() else { return };
    let Some(format) = format(path).filter(|_| *method == Method::POST) else { return };
    let error = provider::error(format, kind.status(), kind.error_type(), &message);
    *response.body_mut() = Body::from(error.to_string());
}

/// What is spoken at a path.
fn format(path: &str) -> Option<Format> {
    match path {
        "/v1/chat/completions" => Some(Format::OpenAi),
        "/v1/responses" => Some(Format::OpenAiResponses),
        "/v1/messages" => Some(Format::Anthropic),
        _ => {
            let gemini = ["/v1beta/models/", "/v1/models/"];
            gemini.iter().any(|begin| path.starts_with(begin)).then_some(Format::Gemini)
        }
    }
}
