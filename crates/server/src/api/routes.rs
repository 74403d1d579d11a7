//! Finds the operation that a request is for.

use std::collections::BTreeMap;

use axum::{
    extract::Request,
    http::{HeaderValue, Method, header},
    response::{IntoResponse as _, Response},
};
use percent_encoding::percent_decode_str;

use super::route::Route;
use crate::{
    problem::{Kind, Problem},
    state::State,
};

/// Every operation, by its path.
#[derive(Debug)]
pub(crate) struct Routes {
    all: Vec<Route>,
    /// The places of those with the same path.
    paths: matchit::Router<Vec<usize>>,
}

/// What a request is for.
#[derive(Debug)]
pub(crate) enum Meant<'a> {
    /// An operation, with the part of its path in braces as it was sent.
    Route(&'a Route, Option<String>),
    /// A path with other methods only.
    OtherMethods(Vec<&'a str>),
    /// Nothing there is.
    Nothing,
}

impl Routes {
    pub(super) fn new(all: Vec<Route>) -> Self {
        let mut places = BTreeMap::<&str, Vec<usize>>::new();
        for (place, route) in all.iter().enumerate() {
            places.entry(route.path).or_default().push(place);
        }
        let mut paths = matchit::Router::new();
        for (path, places) in places {
            // Two paths that cannot be told apart are found by the test below.
            let _ = paths.insert(path, places);
        }
        Self { all, paths }
    }

    pub(super) fn all(&self) -> &[Route] {
        &self.all
    }

    /// What a request with this method and path is for. Who only wants the head gets that of `GET`.
    pub(super) fn find(&self, method: &Method, path: &str) -> Meant<'_> {
        let Ok(found) = self.paths.at(path) else { return Meant::Nothing };
        let method = if *method == Method::HEAD { &Method::GET } else { method };
        let routes = found.value.iter().filter_map(|place| self.all.get(*place));
        match routes.clone().find(|route| route.method == *method) {
            Some(route) => {
                let part = found.params.iter().next().map(|(_, part)| part.to_owned());
                Meant::Route(route, part)
            }
            None => Meant::OtherMethods(routes.map(|route| route.method.as_str()).collect()),
        }
    }
}

impl Meant<'_> {
    /// Whether no token is needed for it.
    pub(crate) const fn is_open(&self) -> bool {
        matches!(self, Meant::Route(Route { open: true, .. }, _))
    }

    /// Does it, or says that it cannot be done.
    pub(crate) async fn answer(self, state: &State, request: Request) -> Response {
        match self {
            Self::Route(route, None) => {
                (route.handle)(state.clone(), route.shape.clone(), request, None).await
            }
            Self::Route(route, Some(part)) => match percent_decode_str(&part).decode_utf8() {
                Ok(part) => {
                    let part = Some(part.into_owned());
                    (route.handle)(state.clone(), route.shape.clone(), request, part).await
                }
                Err(_) => Problem::new(Kind::Invalid, "the path is not UTF-8").into_response(),
            },
            Self::OtherMethods(allowed) => method_not_allowed(&allowed.join(", ")),
            Self::Nothing => not_found(request.uri().path()).into_response(),
        }
    }
}

fn method_not_allowed(allowed: &str) -> Response {
    let problem = Problem::new(Kind::MethodNotAllowed, format!("this path has only {allowed}"));
    let mut response = problem.into_response();
    if let Ok(allowed) = HeaderValue::from_str(allowed) {
        response.headers_mut().insert(header::ALLOW, allowed);
    }
    response
}

fn not_found(path: &str) -> Problem {
    let path: String = path.chars().take(200).collect();
    let message =
        format!("there is no `{}`; `/openapi.json` lists what there is", path.escape_debug());
    Problem::new(Kind::NotFound, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_found_by_its_path() {
        let routes = Routes::new(super::super::table());
        for route in routes.all() {
            let path = route.path.replace(['{', '}'], "");
            let Meant::Route(found, part) = routes.find(&route.method, &path) else {
                panic!("{} {path}", route.method)
            };
            assert_eq!((found.path, &found.method), (route.path, &route.method));
            assert_eq!(part.is_some(), route.path.contains('{'), "{path}");
            if let Meant::Route(other, _) = routes.find(&Method::TRACE, &path) {
                panic!("{other:?}");
            }
        }
        assert!(matches!(routes.find(&Method::HEAD, "/healthz"), Meant::Route(..)));
        assert!(matches!(routes.find(&Method::GET, "/healthz/"), Meant::Nothing));
        assert!(matches!(routes.find(&Method::GET, "/nothing"), Meant::Nothing));
    }
}
