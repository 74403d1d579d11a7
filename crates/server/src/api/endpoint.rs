//! One operation of the API, as it is written.

use axum::{
    extract::Request,
    http::{HeaderMap, Method},
    response::Response,
};

use super::{
    input::{FromBody, PathPart, Query},
    openapi::Described,
    output::Answer,
};
use store::Scope;
use tool::Caller;

use crate::{
    auth::{self, Signed},
    problem::{Problem, Refusal},
    state::State,
};

/// Who may use an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Whoever has a token.
    Everybody,
    /// Not an agent: a token that is for certain agents does not do.
    Person,
    /// The owner themselves.
    Owner,
}

/// What becomes of fields of a query that nobody expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The request is refused, with the nearest name.
    Refused,
    /// Nothing: clients of model providers send things that are the provider's own business.
    PassedOver,
}

/// An operation for those who have a token: what they may send, what they may get, and what is done.
pub(crate) trait Endpoint: 'static {
    const METHOD: Method;
    /// With at most one part in braces.
    const PATH: &'static str;
    /// What it is for, in a sentence.
    const SUMMARY: &'static str;
    const WHO: Who = Who::Everybody;
    /// What the token must be for; nothing in particular to look at what is one's own.
    const NEEDS: Option<Scope> = None;
    const UNKNOWN: Unknown = Unknown::Refused;

    /// The part of the path in braces.
    type Path: PathPart;
    type Query: Query;
    type Body: FromBody;
    type Answer: Answer;
    type Refusal: Refusal;

    fn handle(
        asked: Asked,
        given: Given<Self>,
    ) -> impl Future<Output = Result<Self::Answer, Self::Refusal>> + Send;
}

/// Who asks, and what they work with.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) state: State,
    pub(crate) signed: Signed,
    pub(crate) headers: HeaderMap,
}

impl Asked {
    /// Who makes a call, as the headers name them.
    pub(crate) fn caller(&self) -> Result<Caller, Problem> {
        self.signed.caller(&self.state.gate.config(), auth::names(&self.headers)?)
    }
}

/// What was sent.
pub(crate) struct Given<E: Endpoint + ?Sized> {
    pub(crate) path: E::Path,
    pub(crate) query: E::Query,
    pub(crate) body: E::Body,
}

/// An operation that needs no token, and therefore takes care of everything itself.
pub(crate) trait Open: 'static {
    const METHOD: Method;
    const PATH: &'static str;
    const SUMMARY: &'static str;

    /// What it answers.
    fn described(described: &mut Described<'_>);

    fn handle(state: State, request: Request) -> impl Future<Output = Response> + Send;
}
