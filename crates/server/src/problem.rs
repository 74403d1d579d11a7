//! Why a request is not answered as asked, in the form an outcome has.

use std::time::Duration;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

/// When to come back, if nobody knows better.
const LATER: Duration = Duration::from_secs(5);

/// What can be wrong with a request, apart from what a call can end with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Invalid,
    Unauthenticated,
    Forbidden,
    NotFound,
    MethodNotAllowed,
    NotAcceptable,
    TooSlow,
    Conflict,
    TooLarge,
    UnsupportedMediaType,
    RangeNotSatisfiable,
    WrongHost,
    TooMany,
    Internal,
    ModelFailed,
    Unavailable,
}

impl Kind {
    /// What every route can answer, whatever it is about.
    pub(crate) const EVERYWHERE: &'static [Self] = &[
        Self::Invalid,
        Self::Unauthenticated,
        Self::Forbidden,
        Self::NotAcceptable,
        Self::TooLarge,
        Self::WrongHost,
        Self::TooMany,
        Self::Internal,
        Self::Unavailable,
    ];

    /// What every route with a body can answer besides.
    pub(crate) const WITH_BODY: &'static [Self] = &[Self::TooSlow, Self::UnsupportedMediaType];

    /// The HTTP status.
    pub(crate) const fn status(self) -> u16 {
        self.row().0
    }

    /// The stable `error_type`.
    pub(crate) const fn error_type(self) -> &'static str {
        self.row().1
    }

    /// When it is given, for the description of the API.
    pub(crate) const fn when(self) -> &'static str {
        self.row().2
    }

    const fn retryable(self) -> bool {
        matches!(
            self,
            Self::TooSlow | Self::TooMany | Self::Internal | Self::ModelFailed | Self::Unavailable
        )
    }

    // One table, so that a new one must choose everything.
    const fn row(self) -> (u16, &'static str, &'static str) {
        match self {
            Self::Invalid => (400, "validation_error", "The request is not what is expected."),
            Self::Unauthenticated => (401, "unauthenticated", "No token, or not one that works."),
            Self::Forbidden => {
                (403, "permission_denied", "The token may not do this, or the page it comes from.")
            }
            Self::NotFound => (404, "not_found", "There is no such thing, or not for this user."),
            Self::MethodNotAllowed => (405, "method_not_allowed", "The path has other methods."),
            Self::NotAcceptable => (406, "not_acceptable", "No such form of an answer is given."),
            Self::TooSlow => (408, "request_timeout", "The body did not arrive in time."),
            Self::Conflict => (409, "conflict", "It is not in a state in which that can be done."),
            Self::TooLarge => (413, "body_too_large", "The body is longer than allowed."),
            Self::UnsupportedMediaType => {
                (415, "unsupported_media_type", "The body is not of the kind expected.")
            }
            Self::RangeNotSatisfiable => (416, "range_not_satisfiable", "Nothing is there."),
            Self::WrongHost => (421, "wrong_host", "The request is for another host."),
            Self::TooMany => (429, "rate_limited", "Too many requests; see `retry-after`."),
            Self::Internal => (500, "internal_error", "The fault is the server's."),
            Self::ModelFailed => (502, "model_failed", "The model's provider failed."),
            Self::Unavailable => (503, "unavailable", "The server is busy, or about to end."),
        }
    }
}

/// An error, as clients get it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ErrorBody {
    /// Always `error`.
    status: &'static str,
    /// For programs.
    error_type: &'static str,
    /// What is wrong and what to do.
    message: String,
    /// Whether the same request may succeed later.
    retryable: bool,
    /// More for programs.
    details: Value,
}

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct Problem {
    kind: Kind,
    message: String,
    details: Value,
    retry_after: Option<Duration>,
}

impl Problem {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        let problem = Self { kind, message: message.into(), details: json!({}), retry_after: None };
        if kind == Kind::TooMany { problem.after(LATER) } else { problem }
    }

    /// The server ends; another one may be there soon.
    pub(crate) fn ending() -> Self {
        Self::new(Kind::Unavailable, "the server is about to end").after(LATER)
    }

    /// Ours; what it was goes to the log only.
    pub(crate) fn internal(source: impl std::fmt::Display) -> Self {
        tracing::error!(error = %source, "a request failed");
        Self::unexplained()
    }

    /// Nothing works until the owner mends it, so the client is told what it is.
    pub(crate) fn stuck(message: String) -> Self {
        tracing::error!(%message, "a request failed");
        Self::new(Kind::Unavailable, message)
    }

    /// Ours; what it was is in the log already.
    pub(crate) fn unexplained() -> Self {
        Self::new(
            Kind::Internal,
            "internal error; this is not your fault, and trying again may help",
        )
    }

    /// Helps only after a while.
    #[must_use]
    pub(crate) fn after(mut self, wait: Duration) -> Self {
        self.details =
            json!({"retry_after_ms": u64::try_from(wait.as_millis()).unwrap_or(u64::MAX)});
        self.retry_after = Some(wait);
        self
    }

    /// When it may help, if only after a while.
    pub(crate) const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    pub(crate) const fn kind(&self) -> Kind {
        self.kind
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn body(&self) -> ErrorBody {
        ErrorBody {
            status: "error",
            error_type: self.kind.error_type(),
            message: self.message.clone(),
            retryable: self.kind.retryable(),
            details: self.details.clone(),
        }
    }
}

/// What an answer says is wrong, for those who must say it in another form.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) kind: Kind,
    pub(crate) message: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.kind.status()).unwrap_or_default();
        let mut response = json_response(status, &self.body());
        response.extensions_mut().insert(Said { kind: self.kind, message: self.message });
        let headers = response.headers_mut();
        if self.kind == Kind::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(wait) = self.retry_after {
            headers.insert(header::RETRY_AFTER, whole_seconds(wait));
        }
        response
    }
}

/// As `Retry-After` has it, and not less.
pub(crate) fn whole_seconds(wait: Duration) -> HeaderValue {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).into()
}

/// An answer in JSON.
pub(crate) fn json_response(status: StatusCode, value: &impl Serialize) -> Response {
    let text = serde_json::to_vec(value).unwrap_or_default();
    let mut response = Response::new(Body::from(text));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// What one route can refuse for: an enum of its own, so that a route can give what is documented for it
/// and nothing else.
pub(crate) trait Refusal: Send {
    /// Every kind it can be.
    const KINDS: &'static [Kind];

    /// As clients get it.
    fn problem(self) -> Problem;
}

/// Makes a [`Refusal`] of some kinds; each can also be internal, which is documented everywhere. Those that help
/// `later` say when.
macro_rules! refusals {
    ($(#[$doc:meta])* $name:ident { $($kind:ident),* } $(later { $($later:ident),* })?) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub(crate) enum $name {
            $($kind(String),)*
            $($($later(String, std::time::Duration),)*)?
            Internal(String),
            /// Only the owner can mend it: a disk that is full, a file that is damaged.
            Stuck(String),
        }

        impl $crate::problem::Refusal for $name {
            const KINDS: &'static [$crate::problem::Kind] = &[
                $($crate::problem::Kind::$kind,)*
                $($($crate::problem::Kind::$later,)*)?
            ];

            fn problem(self) -> $crate::problem::Problem {
                match self {
                    $(Self::$kind(message) => {
                        $crate::problem::Problem::new($crate::problem::Kind::$kind, message)
                    })*
                    $($(Self::$later(message, wait) => {
                        let kind = $crate::problem::Kind::$later;
                        $crate::problem::Problem::new(kind, message).after(wait)
                    })*)?
                    Self::Internal(source) => $crate::problem::Problem::internal(source),
                    Self::Stuck(message) => $crate::problem::Problem::stuck(message),
                }
            }
        }

        impl From<store::StoreError> for $name {
            fn from(error: store::StoreError) -> Self {
                let in_full = crate::problem::in_full(&error);
                match tool::DiskProblem::in_chain(&error) {
                    Some(problem) => Self::Stuck(problem.to_string()),
                    None if error.is_damage() => Self::Stuck(in_full),
                    None => Self::Internal(in_full),
                }
            }
        }

        impl From<tool::ToolError> for $name {
            fn from(error: tool::ToolError) -> Self {
                Self::Internal(error.operator_detail().unwrap_or_else(|| error.to_string()))
            }
        }
    };
}
pub(crate) use refusals;

refusals! {
    /// Only what is documented everywhere.
    Nothing {}
}

/// An error with everything that led to it.
pub(crate) fn in_full(error: &dyn std::error::Error) -> String {
    let chain = std::iter::successors(error.source(), |error| error.source());
    chain.fold(error.to_string(), |text, error| format!("{text}: {error}"))
}
