//! The page at `/`: one small file, with nothing from elsewhere.

use std::sync::LazyLock;

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderName, HeaderValue, Method, header},
    response::Response,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

use super::{endpoint::Open, openapi::Described};
use crate::state::State;

const PAGE: &str = include_str!("../../assets/page.html");

/// Only the style and the script of this very page count, and it talks to nobody but us.
static POLICY: LazyLock<String> = LazyLock::new(|| {
    format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; connect-src 'self'; img-src data:; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        hash(between(PAGE, "<script>", "</script>")),
        hash(between(PAGE, "<style>", "</style>"))
    )
});

/// `GET /`.
pub(crate) struct Page;

impl Open for Page {
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/";
    const SUMMARY: &'static str = "A page for people: sign in, see what happens, answer questions.";

    fn described(described: &mut Described<'_>) {
        described.text(200, "text/html", "The page.");
    }

    async fn handle(_: State, _: Request) -> Response {
        let mut response = Response::new(Body::from(PAGE));
        let fixed = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::X_FRAME_OPTIONS, "DENY"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ];
        let headers = response.headers_mut();
        for (name, value) in fixed {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let policy = HeaderValue::from_str(&POLICY);
        headers.extend(policy.map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
        response
    }
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let after = text.split_once(begin).map_or("", |(_, after)| after);
    after.split_once(end).map_or("", |(between, _)| between)
}

fn hash(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_page_is_read_as_markup_or_comes_from_elsewhere() {
        let used: Vec<_> = [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "new Function",
            "DOMParser",
            "srcdoc",
            "javascript:",
            " onclick",
            " onload",
            " onerror",
            "http://",
            "https://",
            "style=\"",
            "localStorage",
            "sessionStorage",
        ]
        .into_iter()
        .filter(|word| PAGE.contains(word))
        .collect();
        assert_eq!(used, Vec::<&str>::new());
        for tag in ["script", "style"] {
            assert_eq!(PAGE.matches(&format!("<{tag}")).count(), 1, "one {tag}, and so one hash");
            assert!(!between(PAGE, &format!("<{tag}>"), &format!("</{tag}>")).is_empty());
        }
    }
}
