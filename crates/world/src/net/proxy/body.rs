//! Bodies of answers.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Frame, Incoming, SizeHint};

use super::task::Task;

/// Our own words, or what came from the network.
pub(super) type Body = Either<Full<Bytes>, Relayed>;

/// What comes from the network, with the connection it comes on.
#[derive(Debug)]
pub(super) struct Relayed {
    body: Incoming,
    /// Ends when nobody wants the rest.
    _connection: Task,
}

impl Relayed {
    pub(super) const fn new(body: Incoming, connection: Task) -> Self {
        Self { body, _connection: connection }
    }
}

impl hyper::body::Body for Relayed {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
