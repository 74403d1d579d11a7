//! Who watches calls come and go.

use std::{fmt, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use tool::{CallId, Caller, Meta, ToolResult};

/// A call that begins.
#[derive(Debug, Clone, Copy)]
pub struct Started<'a> {
    /// Its id.
    pub call: CallId,
    /// On whose behalf.
    pub caller: &'a Arc<Caller>,
    /// Tool name as the caller wrote it, secrets taken out.
    pub name: &'a str,
    /// Stops it.
    pub cancel: &'a CancellationToken,
}

/// A call that has its outcome, which is recorded already.
#[derive(Debug, Clone, Copy)]
pub struct Finished<'a> {
    /// Its id.
    pub call: CallId,
    /// On whose behalf.
    pub caller: &'a Arc<Caller>,
    /// Canonical name of the tool; `None` if there is no such tool for this caller.
    pub tool: Option<&'a Arc<str>>,
    /// What came of it, as the caller gets it.
    pub result: &'a ToolResult,
    /// What is known about it.
    pub meta: &'a Meta,
    /// From start to end.
    pub took: Duration,
}

/// Watches calls: metrics, a console. What it does must be quick, and changes nothing about a call.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A call begins. Each gets one `finished` later.
    fn started(&self, call: Started<'_>);
    /// A call has its outcome.
    fn finished(&self, call: Finished<'_>);
}
