//! Partial results while a call runs.

use std::{fmt, sync::Arc};

use crate::BoxFuture;

/// Takes partial results. A slow one slows the tool down; nothing is buffered without bound.
pub trait UpdateSink: fmt::Debug + Send + Sync {
    /// Takes the next piece of text.
    fn send<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()>;
}

/// Where a call's partial results go; by default nowhere.
#[derive(Debug, Clone, Default)]
pub struct Updates(Option<Arc<dyn UpdateSink>>);

impl Updates {
    /// To `sink`.
    pub const fn to(sink: Arc<dyn UpdateSink>) -> Self {
        Self(Some(sink))
    }

    /// Whether anybody listens.
    pub const fn is_heard(&self) -> bool {
        self.0.is_some()
    }

    /// Sends the next piece of text.
    pub async fn send(&self, text: &str) {
        if let Some(sink) = &self.0 {
            sink.send(text).await;
        }
    }
}
