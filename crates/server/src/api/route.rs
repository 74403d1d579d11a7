//! A line of the table.

use std::sync::Arc;

use axum::{
    extract::Request,
    http::{HeaderMap, Method, header},
    response::{IntoResponse, Response},
};
use store::Scope;
use tool::BoxFuture;

use super::{
    endpoint::{Asked, Endpoint, Given, Open, Who},
    input::{BodySource, FromBody, PathPart, read_query},
    openapi::{Described, of_endpoint, of_open},
    output::Answer,
    shape::{Fields, Shape},
};
use crate::{
    auth::{self, Signed},
    problem::{Kind, Problem, Refusal},
    state::State,
};

/// What handles a request, with the part of the path in braces.
type Handle = fn(State, Arc<Shape>, Request, Option<String>) -> BoxFuture<'static, Response>;

/// One operation.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    /// Whether it needs no token.
    pub(crate) open: bool,
    /// What a token must be for.
    pub(crate) needs: Option<Scope>,
    pub(crate) shape: Arc<Shape>,
    pub(crate) handle: Handle,
    /// Writes its description.
    pub(crate) describe: fn(&mut Described<'_>),
}

/// An operation for whoever has a token.
pub(crate) fn signed<E: Endpoint>() -> Route {
    let body = Fields::of::<<E::Body as FromBody>::Shape>();
    Route {
        method: E::METHOD,
        path: E::PATH,
        open: false,
        needs: E::NEEDS,
        shape: Arc::new(Shape { query: Fields::of::<E::Query>(), body }),
        handle: |state, shape, request, part| {
            Box::pin(async move {
                let done = run::<E>(state, &shape, request, part).await;
                done.unwrap_or_else(Problem::into_response)
            })
        },
        describe: of_endpoint::<E>,
    }
}

/// An operation that needs no token.
pub(crate) fn opened<O: Open>() -> Route {
    Route {
        method: O::METHOD,
        path: O::PATH,
        open: true,
        needs: None,
        shape: Arc::default(),
        handle: |state, _, request, _| Box::pin(O::handle(state, request)),
        describe: of_open::<O>,
    }
}

/// Decodes, asks, encodes.
async fn run<E: Endpoint>(
    state: State,
    shape: &Shape,
    request: Request,
    part: Option<String>,
) -> Result<Response, Problem> {
    let (mut parts, body) = request.into_parts();
    let signed = parts.extensions.remove::<Signed>().ok_or_else(auth::missing)?;
    check_who(&signed, E::WHO)?;
    signed.check_scope(E::NEEDS)?;
    // Here and not where a caller is made: a token that may not name a sender is told so by every operation.
    let names = auth::names(&parts.headers)?;
    signed.check_sender(names.sender, names.channel)?;
    check_accept(&parts.headers, E::PATH)?;
    let path = E::Path::read(part.as_deref())?;
    let query = read_query(&shape.query, parts.uri.query().unwrap_or_default(), E::UNKNOWN)?;
    let (headers, fields, user) = (&parts.headers, &shape.body, signed.user());
    let body = E::Body::read(BodySource { state: &state, headers, fields, user, body }).await?;
    let asked = Asked { state, signed, headers: parts.headers };
    let answer = E::handle(asked, Given { path, query, body }).await;
    Ok(answer.map_err(Refusal::problem)?.respond())
}

fn check_who(signed: &Signed, who: Who) -> Result<(), Problem> {
    let refused = match who {
        Who::Everybody => return Ok(()),
        Who::Person if signed.is_person() => return Ok(()),
        Who::Person => "a token that is for certain agents can do this for nobody; use another one",
        Who::Owner if signed.is_owner() => return Ok(()),
        Who::Owner => "this is for the owner",
    };
    Err(Problem::new(Kind::Forbidden, refused))
}

/// Whether a client takes what it would get: JSON, or a stream where there is one, or what it asks a file for.
fn check_accept(headers: &HeaderMap, path: &str) -> Result<(), Problem> {
    let mut wanted = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let any = path.starts_with("/v1/artifacts") || path == "/metrics";
    let Some(first) = wanted.next() else { return Ok(()) };
    let fits = |range: &str| {
        let mut parts = range.split(';').map(str::trim);
        let kind = parts.next().unwrap_or_default().to_ascii_lowercase();
        let refused = parts.any(|part| matches!(part, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"));
        let known = ["*/*", "application/*", "application/json", "text/event-stream"];
        !refused && (any || known.contains(&kind.as_str()))
    };
    if [first].into_iter().chain(wanted).flat_map(|value| value.split(',')).any(fits) {
        return Ok(());
    }
    Err(Problem::new(Kind::NotAcceptable, "the answer is JSON; accept `application/json`"))
}
