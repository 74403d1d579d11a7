//! The one error a call can end with.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use serde::Serialize;
use serde_json::{Value, json};

use crate::{DiskProblem, ToolOutput};

/// What an operator may read about an error.
pub type Source = Box<dyn Error + Send + Sync>;

/// One thing wrong with the arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Where: `edits[0].oldText`, or empty for the arguments as a whole.
    pub path: String,
    /// What is wrong and what to do.
    pub message: String,
    /// What would have been right, if that can be said in a word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What was there instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub got: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            return f.write_str(&self.message);
        }
        write!(f, "`{}`: {}", self.path, self.message)
    }
}

/// A call that was ended before it was done, with its output until then.
#[derive(Debug)]
pub struct Unfinished {
    /// How long it ran, if it was ended because its time was up.
    pub timed_out: Option<Duration>,
    /// One sentence that says why it was ended.
    pub message: String,
    /// The output until then: its value is in the outcome's `details`, a model reads its text.
    pub output: ToolOutput,
}

/// Why a call has no output, or not all of it.
///
/// The message (`Display`) is for the model: what is wrong, and what to do if we know.
/// The `source` is for the operator: it goes to the journal and never to a model.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ToolError {
    #[error("Tool `{0}` is not available")]
    NotAvailable(String),
    /// The caller's own tool, which cannot work on this machine.
    #[error("Tool `{tool}` is not available: {reason}")]
    NotWorking { tool: String, reason: String },
    #[error("invalid arguments for `{tool}`: {}", Listed(problems))]
    Invalid { tool: String, problems: Vec<Problem> },
    #[error("{reason}")]
    Denied { stage: &'static str, rule: String, reason: String },
    #[error("{reason}; try again in {}", Wait(*retry_after))]
    RateLimited { reason: String, retry_after: Duration },
    #[error("timed out after {}", Wait(*.0))]
    TimedOut(Duration),
    #[error("cancelled by the caller")]
    Cancelled,
    #[error("the process that ran it died; look at what it did before trying again")]
    Interrupted,
    #[error("`{path}` {problem}")]
    PathNotAllowed { path: String, problem: Cow<'static, str> },
    #[error("`{path}` does not exist{hint}")]
    FileNotFound { path: String, hint: String },
    #[error("`{path}` has {bytes} bytes, more than the {max_bytes} allowed; {hint}")]
    FileTooLarge { path: String, bytes: u64, max_bytes: u64, hint: Cow<'static, str> },
    #[error("{message}")]
    Network { message: String, source: Option<Source> },
    #[error("{message}")]
    Failed { message: String, source: Option<Source> },
    #[error("{}", .0.message)]
    Unfinished(Box<Unfinished>),
    #[error("internal error; this is not your fault, and trying again may help")]
    Internal(#[source] Source),
}

impl ToolError {
    /// A refusal by `stage`, because of `rule`.
    pub fn denied(stage: &'static str, rule: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Denied { stage, rule: rule.into(), reason: reason.into() }
    }

    /// Everything is stopped, for `reason`.
    pub fn stopped(reason: impl Into<String>) -> Self {
        Self::denied("emergency", "emergency.stop", reason)
    }

    /// One problem with one argument.
    pub fn invalid(tool: &str, path: &str, message: impl Into<String>) -> Self {
        let problem =
            Problem { path: path.to_owned(), message: message.into(), expected: None, got: None };
        Self::Invalid { tool: tool.to_owned(), problems: vec![problem] }
    }

    /// A path that may not be used.
    pub fn path(path: impl fmt::Display, problem: impl Into<Cow<'static, str>>) -> Self {
        Self::PathNotAllowed { path: path.to_string(), problem: problem.into() }
    }

    /// A file that is not there.
    pub fn not_found(path: impl fmt::Display) -> Self {
        Self::FileNotFound { path: path.to_string(), hint: String::new() }
    }

    /// A failure that is ours; `source` stays with the operator. A disk that takes nothing more is named to
    /// everybody: it is not ours, and waiting does not help.
    pub fn internal(source: impl Into<Source>) -> Self {
        let source = source.into();
        match DiskProblem::in_chain(&*source) {
            Some(problem) => Self::failed_by(problem.to_string(), source),
            None => Self::Internal(source),
        }
    }

    /// The tool ran and failed.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { message: message.into(), source: None }
    }

    /// The tool ran and failed, for a reason an operator may want to see.
    pub fn failed_by(message: impl Into<String>, source: impl Into<Source>) -> Self {
        Self::Failed { message: message.into(), source: Some(source.into()) }
    }

    /// The tool was ended before it was done, after `timed_out` or for another reason.
    pub fn unfinished(
        timed_out: Option<Duration>,
        message: impl Into<String>,
        output: ToolOutput,
    ) -> Self {
        Self::Unfinished(Box::new(Unfinished { timed_out, message: message.into(), output }))
    }

    /// The stable `error_type`. Programs match on it, so it outlives the variant's name.
    pub const fn kind(&self) -> &'static str {
        self.row().0
    }

    /// Whether the same call may succeed later.
    pub const fn retryable(&self) -> bool {
        matches!(self.row().1, Retry::MayHelp)
    }

    /// The HTTP status it has on that surface.
    pub const fn http_status(&self) -> u16 {
        self.row().2
    }

    /// The HTTP status of every `error_type`.
    pub const STATUSES: &'static [(&'static str, u16)] = &[
        ("tool_not_available", 404),
        ("validation_error", 400),
        ("permission_denied", 403),
        ("rate_limited", 429),
        ("timeout", 504),
        ("cancelled", 499),
        ("interrupted", 503),
        ("path_not_allowed", 403),
        ("file_not_found", 404),
        ("file_too_large", 413),
        ("network_error", 502),
        ("execution_error", 500),
        ("internal_error", 500),
    ];

    /// What programs and people may want to know; never for a model.
    pub fn details(&self) -> Value {
        match self {
            Self::Invalid { tool: _, problems } => json!({ "problems": problems }),
            Self::Denied { stage, rule, reason: _ } => json!({ "stage": stage, "rule": rule }),
            Self::RateLimited { reason: _, retry_after } => {
                json!({ "retry_after_ms": millis(*retry_after) })
            }
            Self::TimedOut(after) => json!({ "timeout_ms": millis(*after) }),
            Self::PathNotAllowed { path, problem: _ } | Self::FileNotFound { path, hint: _ } => {
                json!({ "path": path })
            }
            Self::FileTooLarge { path, bytes, max_bytes, hint: _ } => {
                json!({ "path": path, "bytes": bytes, "max_bytes": max_bytes })
            }
            Self::Unfinished(unfinished) => {
                unfinished.output.value.clone().unwrap_or_else(|| json!({}))
            }
            Self::NotAvailable(_)
            | Self::NotWorking { .. }
            | Self::Cancelled
            | Self::Interrupted
            | Self::Network { .. }
            | Self::Failed { .. }
            | Self::Internal(_) => json!({}),
        }
    }

    /// What only an operator may see.
    pub fn operator_detail(&self) -> Option<String> {
        let source = match self {
            Self::Network { message: _, source } | Self::Failed { message: _, source } => {
                source.as_ref()
            }
            Self::Internal(source) => Some(source),
            Self::NotAvailable(_)
            | Self::NotWorking { .. }
            | Self::Invalid { .. }
            | Self::Denied { .. }
            | Self::RateLimited { .. }
            | Self::TimedOut(_)
            | Self::Cancelled
            | Self::Interrupted
            | Self::PathNotAllowed { .. }
            | Self::FileNotFound { .. }
            | Self::FileTooLarge { .. }
            | Self::Unfinished(_) => None,
        };
        source.map(|source| {
            let chain = std::iter::successors(source.source(), |error| (*error).source());
            chain.fold(source.to_string(), |text, error| format!("{text}: {error}"))
        })
    }

    /// The same error with every text a model may see changed by `f`.
    #[must_use]
    pub fn map_text(self, f: &dyn Fn(&str) -> String) -> Self {
        let problem = |p: Problem| Problem {
            path: f(&p.path),
            message: f(&p.message),
            expected: p.expected,
            got: p.got.as_deref().map(f),
        };
        match self {
            Self::NotAvailable(name) => Self::NotAvailable(f(&name)),
            Self::NotWorking { tool, reason } => Self::NotWorking { tool, reason: f(&reason) },
            Self::Invalid { tool, problems } => {
                Self::Invalid { tool, problems: problems.into_iter().map(problem).collect() }
            }
            Self::Denied { stage, rule, reason } => {
                Self::Denied { stage, rule, reason: f(&reason) }
            }
            Self::RateLimited { reason, retry_after } => {
                Self::RateLimited { reason: f(&reason), retry_after }
            }
            Self::PathNotAllowed { path, problem } => {
                Self::PathNotAllowed { path: f(&path), problem }
            }
            Self::FileNotFound { path, hint } => {
                Self::FileNotFound { path: f(&path), hint: f(&hint) }
            }
            Self::FileTooLarge { path, bytes, max_bytes, hint } => {
                Self::FileTooLarge { path: f(&path), bytes, max_bytes, hint }
            }
            Self::Network { message, source } => Self::Network { message: f(&message), source },
            Self::Failed { message, source } => Self::Failed { message: f(&message), source },
            // The stages that change texts see its output, too.
            Self::Unfinished(mut unfinished) => {
                unfinished.message = f(&unfinished.message);
                Self::Unfinished(unfinished)
            }
            Self::TimedOut(_) | Self::Cancelled | Self::Interrupted | Self::Internal(_) => self,
        }
    }

    // One table, so that a new variant must choose everything.
    const fn row(&self) -> (&'static str, Retry, u16) {
        match self {
            Self::NotAvailable(_) | Self::NotWorking { .. } => {
                ("tool_not_available", Retry::Futile, 404)
            }
            Self::Invalid { .. } => ("validation_error", Retry::Futile, 400),
            Self::Denied { .. } => ("permission_denied", Retry::Futile, 403),
            Self::RateLimited { .. } => ("rate_limited", Retry::MayHelp, 429),
            Self::TimedOut(_) => ("timeout", Retry::MayHelp, 504),
            Self::Cancelled => ("cancelled", Retry::Futile, 499),
            Self::Interrupted => ("interrupted", Retry::Futile, 503),
            Self::PathNotAllowed { .. } => ("path_not_allowed", Retry::Futile, 403),
            Self::FileNotFound { .. } => ("file_not_found", Retry::Futile, 404),
            Self::FileTooLarge { .. } => ("file_too_large", Retry::Futile, 413),
            Self::Network { .. } => ("network_error", Retry::MayHelp, 502),
            Self::Failed { .. } => ("execution_error", Retry::Futile, 500),
            Self::Unfinished(unfinished) => match unfinished.timed_out {
                Some(_) => ("timeout", Retry::MayHelp, 504),
                None => ("execution_error", Retry::Futile, 500),
            },
            Self::Internal(_) => ("internal_error", Retry::MayHelp, 500),
        }
    }
}

enum Retry {
    MayHelp,
    Futile,
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

struct Listed<'a>(&'a [Problem]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            write!(f, "{}{problem}", if index == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

/// A duration as people say it.
struct Wait(Duration);

impl fmt::Display for Wait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_millis() {
            millis @ 0..=999 => write!(f, "{millis} ms"),
            millis if millis % 1000 == 0 => write!(f, "{} s", millis / 1000),
            millis => write!(f, "{}.{} s", millis / 1000, millis % 1000 / 100),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_error_has_its_status_in_the_list() {
        let (path, hint) = (String::new(), String::new());
        let all = [
            ToolError::NotAvailable(String::new()),
            ToolError::invalid("", "", ""),
            ToolError::denied("", "", ""),
            ToolError::RateLimited { reason: String::new(), retry_after: Duration::ZERO },
            ToolError::TimedOut(Duration::ZERO),
            ToolError::Cancelled,
            ToolError::Interrupted,
            ToolError::path("", ""),
            ToolError::not_found(""),
            ToolError::FileTooLarge { path, bytes: 0, max_bytes: 0, hint: hint.into() },
            ToolError::Network { message: String::new(), source: None },
            ToolError::failed(""),
            ToolError::internal(""),
        ];
        let listed: Vec<_> = all.iter().map(|error| (error.kind(), error.http_status())).collect();
        assert_eq!(listed, ToolError::STATUSES);
    }
}
