//! What is around every request: it is looked at, it is known who sent it, it is answered whatever happens,
//! and one line about it is logged.

use std::{net::IpAddr, panic::AssertUnwindSafe};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, header, request::Parts},
    response::{IntoResponse, Response},
};
use futures_util::FutureExt;

use crate::{
    auth::{self, By, Signed},
    chat,
    guard::{self, Ends, FromPage},
    open_request::OpenRequest,
    problem::{Kind, Problem},
    state::State,
};

/// A header that pages of other sites cannot send: whoever sends it is a program, or our page.
const OWN_HEADER: &str = "toolgate-request";
/// Names a request in the log and in the answer.
const REQUEST_ID: HeaderName = HeaderName::from_static("toolgate-request-id");

/// Answers a request.
pub(crate) async fn handle(state: State, request: Request) -> Response {
    let mut open = OpenRequest::new(&state, &request);
    let mut from = FromPage::Nowhere;
    let answered = answer(&state, request, (&mut from, &mut open.user)).await;
    let mut response = answered.unwrap_or_else(Problem::into_response);
    chat::put_in_form(&open.method, &open.path, &mut response);
    guard::allow_reading(&mut response, &from);
    add_headers(response.headers_mut(), &open.id);
    open.answered(response)
}

async fn answer(
    state: &State,
    mut request: Request,
    (from, user): (&mut FromPage, &mut Option<String>),
) -> Result<Response, Problem> {
    let missing = || Problem::internal("a request without a connection");
    let ends = *request.extensions().get::<Ends>().ok_or_else(missing)?;
    *from = guard::check(&request, ends, &state.gate.config().server)?;
    if let Some(response) = guard::preflight(request.method(), request.headers(), from) {
        return Ok(response);
    }
    // Whether it lives, and that it ends, is still said.
    let path = request.uri().path();
    if state.ending.is_cancelled() && !matches!(path, "/healthz" | "/readyz") {
        return Err(Problem::ending());
    }
    request.extensions_mut().insert(from.clone());
    let meant = state.table.find(request.method(), request.uri().path());
    let mut held = None;
    if !meant.is_open() {
        let (mut parts, body) = request.into_parts();
        let signed = signed(state, ends.peer.ip(), &parts, from).await?;
        *user = Some(signed.user().to_owned());
        let counted = signed.admit(state)?;
        held = Some(state.held.hold(&signed).with(counted));
        parts.extensions.insert(signed);
        request = Request::from_parts(parts, body);
    }
    let handled = AssertUnwindSafe(meant.answer(state, request)).catch_unwind();
    let panicked = |_| Problem::internal("a handler panicked");
    let Some(held) = held else { return handled.await.map_err(panicked) };
    let response = tokio::select! {
        response = handled => response.map_err(panicked)?,
        () = held.over() => return Err(auth::unknown()),
    };
    Ok(response.map(|body| held.around(body)))
}

async fn signed(
    state: &State,
    peer: IpAddr,
    parts: &Parts,
    from: &FromPage,
) -> Result<Signed, Problem> {
    let signed = auth::authenticate(state, peer, &parts.headers).await?;
    let signed = signed.ok_or_else(|| auth::missing_in(&parts.uri))?;
    check_cookie(&signed, &parts.method, &parts.headers, from)?;
    Ok(signed)
}

/// A browser sends its cookie whatever page asks it to, so a cookie alone changes nothing.
fn check_cookie(
    signed: &Signed,
    method: &Method,
    headers: &HeaderMap,
    from: &FromPage,
) -> Result<(), Problem> {
    let own = matches!(from, FromPage::OurPage { .. }) || headers.contains_key(OWN_HEADER);
    let looks = *method == Method::GET || *method == Method::HEAD;
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    let other_site = site.is_some_and(|site| !matches!(site, "same-origin" | "none"));
    if signed.by == By::Header || own || looks && !other_site {
        return Ok(());
    }
    let message = format!(
        "the request comes with a cookie and does not say from which page; send `{OWN_HEADER}: 1`, or a \
         token instead of the cookie"
    );
    Err(Problem::new(Kind::Forbidden, message))
}

fn add_headers(headers: &mut HeaderMap, id: &str) {
    let fixed = [
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    for (name, value) in fixed {
        headers.entry(name).or_insert(HeaderValue::from_static(value));
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
}
