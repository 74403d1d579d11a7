//! What is refused before an agent is spoken to, as the client's own provider would say it.

use axum::{body::Body, http::Method, response::Response};

use crate::{api::format_at, problem::Said};

/// Puts a refusal into the form that whoever speaks at this path understands.
pub(crate) fn put_in_form(method: &Method, path: &str, response: &mut Response) {
    let Some(Said { kind, message }) = response.extensions_mut().remove() else { return };
    let Some(format) = format_at(path).filter(|_| *method == Method::POST) else { return };
    let error = provider::error(format, kind.status(), kind.error_type(), &message);
    *response.body_mut() = Body::from(error.to_string());
}
