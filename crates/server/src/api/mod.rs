//! Every operation of the API: one table, from which the routes and their description are made.

mod agents;
mod approvals;
mod artifacts;
mod call;
mod calls;
mod chat;
mod check;
mod endpoint;
mod files;
mod health;
mod input;
mod models;
mod openapi;
mod output;
mod page;
mod paging;
mod permissions;
mod policy;
mod route;
mod sessions;
mod shape;
mod sign_in;
mod stats;
mod tokens;
mod tools;
mod users;

use std::{collections::BTreeMap, sync::OnceLock};

use axum::{
    Router,
    extract::Request,
    http::{HeaderValue, Method, Uri, header},
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter},
};

use self::route::{Route, opened, signed};
pub(crate) use self::{
    agents::list as list_agents,
    approvals::{Answering, Listing, answer, is_seen, list as list_approvals, may_answer},
    call::accepts,
    chat::format_at,
    endpoint::{Asked, Endpoint, Given, Open},
    input::{Empty, RawJson},
    openapi::Described,
    output::Answer,
    paging::Paging,
    permissions::list as list_permissions,
    sessions::{
        Answered as SessionAnswer, Wanted as SessionsWanted, list as list_sessions,
        messages as session_messages, stop as stop_session,
    },
    shape::Fields,
    tools::{from_problem, listed as list_tools},
};
use crate::{
    mcp,
    problem::{Kind, Problem},
    state::State,
    ws,
};

/// Every operation there is, once. What is not here does not exist, and is not described either.
fn table() -> Vec<Route> {
    vec![
        // Without a token.
        opened::<page::Page>(),
        opened::<health::Health>(),
        opened::<health::Ready>(),
        opened::<sign_in::SignIn>(),
        opened::<ws::Upgrade>(),
        // With one.
        signed::<sign_in::SignOut>(),
        signed::<tools::List>(),
        signed::<tools::Show>(),
        signed::<call::Call>(),
        signed::<check::Check>(),
        signed::<policy::Explain>(),
        signed::<calls::List>(),
        signed::<calls::Show>(),
        signed::<calls::Undo>(),
        signed::<calls::Cancel>(),
        signed::<approvals::List>(),
        signed::<approvals::Show>(),
        signed::<approvals::Answer>(),
        signed::<permissions::List>(),
        signed::<permissions::Grant>(),
        signed::<permissions::Revoke>(),
        signed::<users::List>(),
        signed::<users::Add>(),
        signed::<users::Show>(),
        signed::<users::Change>(),
        signed::<users::Remove>(),
        signed::<tokens::List>(),
        signed::<tokens::Add>(),
        signed::<tokens::Revoke>(),
        signed::<agents::List>(),
        signed::<agents::Add>(),
        signed::<agents::Remove>(),
        signed::<sessions::List>(),
        signed::<sessions::Show>(),
        signed::<sessions::Change>(),
        signed::<sessions::Remove>(),
        signed::<sessions::Read>(),
        signed::<sessions::Say>(),
        signed::<sessions::Stop>(),
        // As clients of model providers speak.
        signed::<models::List>(),
        signed::<models::Show>(),
        signed::<models::ListGemini>(),
        signed::<chat::Completions>(),
        signed::<chat::Responses>(),
        signed::<chat::Messages>(),
        signed::<chat::Generate>(),
        signed::<chat::GenerateV1>(),
        // As clients of the Model Context Protocol speak.
        signed::<mcp::Post>(),
        signed::<mcp::Listen>(),
        signed::<mcp::End>(),
        signed::<files::Write>(),
        signed::<artifacts::Read>(),
        signed::<stats::Show>(),
        signed::<stats::Metrics>(),
        signed::<openapi::Show>(),
    ]
}

/// The table, and what is worked out from it.
#[derive(Debug)]
pub(crate) struct Table {
    routes: Vec<Route>,
    described: OnceLock<String>,
}

impl Default for Table {
    fn default() -> Self {
        Self { routes: table(), described: OnceLock::new() }
    }
}

impl Table {
    /// Whether an operation needs no token.
    pub(crate) fn is_open(&self, method: &Method, path: &str) -> bool {
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        self.routes.iter().any(|route| route.open && route.method == *method && route.path == path)
    }

    /// The description, as `OpenAPI`.
    pub(crate) fn described(&self) -> &str {
        self.described.get_or_init(|| openapi::described(&self.routes).to_string())
    }
}

/// The routes of the table.
pub(crate) fn router(state: &State) -> Router {
    let mut paths: BTreeMap<&str, (MethodRouter, Vec<&str>)> = BTreeMap::new();
    for route in &state.table.routes {
        let Ok(filter) = MethodFilter::try_from(route.method.clone()) else { continue };
        let (state, handle, shape) = (state.clone(), route.handle, route.shape.clone());
        let handler = move |request: Request| handle(state.clone(), shape.clone(), request);
        let (methods, names) = paths.remove(route.path).unwrap_or_default();
        let names = names.into_iter().chain([route.method.as_str()]).collect();
        paths.insert(route.path, (methods.on(filter, handler), names));
    }
    let mut router = Router::new();
    for (path, (methods, names)) in paths {
        let allowed = names.join(", ");
        let other = move || std::future::ready(method_not_allowed(&allowed));
        router = router.route(path, methods.fallback(other));
    }
    router.fallback(not_found)
}

fn method_not_allowed(allowed: &str) -> Response {
    let problem = Problem::new(Kind::MethodNotAllowed, format!("this path has only {allowed}"));
    let mut response = problem.into_response();
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

async fn not_found(uri: Uri) -> Problem {
    let path: String = uri.path().chars().take(200).collect();
    let message =
        format!("there is no `{}`; `/openapi.json` lists what there is", path.escape_debug());
    Problem::new(Kind::NotFound, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Operations that change something, and for which no scope is asked at the door.
    const WITHOUT: &[(&str, &str)] = &[
        // Who has the link has no token yet.
        ("POST", "/v1/sign-in"),
        // Anybody may go.
        ("POST", "/v1/sign-out"),
        // Decides, and does nothing.
        ("POST", "/v1/check/{kind}"),
        // The scope is checked where a refusal is recorded.
        ("POST", "/v1/approvals/{id}"),
    ];

    #[test]
    fn what_changes_something_needs_a_scope() {
        let reads = |route: &Route| route.method == Method::GET;
        for route in table().iter().filter(|route| !reads(route)) {
            let named = WITHOUT.contains(&(route.method.as_str(), route.path));
            assert_eq!(route.needs.is_none(), named, "{} {}", route.method, route.path);
        }
        for (method, path) in WITHOUT {
            let there = |route: &Route| route.method == *method && route.path == *path;
            assert!(table().iter().any(there), "{method} {path}");
        }
    }
}
