//! How a command ended, for programs and in words.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use tool::{Ended, Usage};

use super::millis;

/// How it ended.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct End {
    /// What it returned, if it ended by itself; 0 means success.
    #[serde(skip_serializing_if = "Option::is_none")]
    exit_code: Option<i32>,
    /// Number of the signal that ended it.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Whether it was ended because its time was up.
    timed_out: bool,
    /// Why it was ended, if it did not end by itself, such as `timeout` or `memory`.
    #[serde(skip_serializing_if = "Option::is_none")]
    killed_for: Option<String>,
    /// How long it ran, in milliseconds.
    duration_ms: u64,
}

impl From<&Ended> for End {
    fn from(ended: &Ended) -> Self {
        let Ended { exit_code, signal, timed_out, killed_for, took, cpu: _, max_rss_bytes: _ } =
            ended;
        Self {
            exit_code: *exit_code,
            signal: *signal,
            timed_out: *timed_out,
            killed_for: killed_for.clone(),
            duration_ms: millis(*took),
        }
    }
}

impl End {
    /// Whether there is nothing to say about it.
    pub(crate) fn is_success(&self) -> bool {
        let Self { exit_code, signal, timed_out, killed_for, duration_ms: _ } = self;
        *exit_code == Some(0) && signal.is_none() && !timed_out && killed_for.is_none()
    }
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { exit_code, signal, timed_out, killed_for, duration_ms } = self;
        match (timed_out, killed_for, signal, exit_code) {
            (true, _, _, _) => {
                write!(f, "ended after {duration_ms} ms because its time was up")
            }
            (_, Some(why), _, _) => match why.as_str() {
                "memory" => f.write_str("ended because it used more memory than it may"),
                "written" => f.write_str("ended because it wrote more to the disk than it may"),
                why => write!(f, "ended from outside: {why}"),
            },
            (_, _, Some(number), _) => match signal_name(*number) {
                Some(name) => write!(f, "ended by signal {number} ({name})"),
                None => write!(f, "ended by signal {number}"),
            },
            (_, _, _, Some(code)) => write!(f, "exit code {code}"),
            (_, _, None, None) => f.write_str("ended, nobody knows how"),
        }
    }
}

/// What it cost.
pub(crate) fn usage(ended: &Ended) -> Usage {
    let cost = json!({ "cpuMs": millis(ended.cpu), "maxRssBytes": ended.max_rss_bytes });
    match cost {
        Value::Object(cost) => cost,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Usage::new()
        }
    }
}

/// Those that end programs, by the numbers Linux has for them.
const fn signal_name(number: i32) -> Option<&'static str> {
    Some(match number {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        5 => "SIGTRAP",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        24 => "SIGXCPU",
        25 => "SIGXFSZ",
        31 => "SIGSYS",
        _ => return None,
    })
}
