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
mod routes;
mod sessions;
mod shape;
mod sign_in;
mod stats;
mod tokens;
mod tools;
mod users;

use std::sync::OnceLock;

use axum::http::Method;

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
    routes::Meant,
    sessions::{
        Answered as SessionAnswer, Wanted as SessionsWanted, list as list_sessions,
        messages as session_messages, stop as stop_session,
    },
    shape::Fields,
    tools::listed as list_tools,
};
use self::{
    route::{Route, opened, signed},
    routes::Routes,
};
use crate::{mcp, ws};

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
        signed::<agents::Show>(),
        signed::<agents::Add>(),
        signed::<agents::Change>(),
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
    routes: Routes,
    described: OnceLock<String>,
}

impl Default for Table {
    fn default() -> Self {
        Self { routes: Routes::new(table()), described: OnceLock::new() }
    }
}

impl Table {
    /// The operation that a request is for.
    pub(crate) fn find(&self, method: &Method, path: &str) -> Meant<'_> {
        self.routes.find(method, path)
    }

    /// The description, as `OpenAPI`.
    pub(crate) fn described(&self) -> &str {
        self.described.get_or_init(|| openapi::described(self.routes.all()).to_string())
    }
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
