//! The Model Context Protocol: the tools of the gate for every client that speaks it.
//!
//! A transport, [`http`] or [`stdio`], reads a message and takes it to the [`Desk`], which begins what the
//! [`Offer`] does about it. What is told and asked meanwhile comes out of [`driven`], and each transport and
//! revision sends it in its own way: a session is asked while it waits, and in the stateless revision the
//! request waits in [`waiting`] until its client comes back.

mod asking;
mod client;
mod desk;
mod driven;
mod errors;
mod exchange;
mod headers;
mod http;
mod listen;
mod offer;
mod pending;
mod request;
mod revision;
mod seal;
mod sessions;
mod stdio;
mod stream;
mod tools;
mod waiting;

use std::sync::Arc;

pub(crate) use self::http::{End, Listen, Post};
pub use self::{
    asking::{Asking, InWords},
    client::Client,
    offer::{Answered, Change, Context, Offer},
    request::ClientInfo,
    revision::Revision,
    stdio::{HowPatient, serve_stdio},
    tools::Tools,
    waiting::Patience,
};
use self::{desk::Desk, sessions::Sessions};
use crate::ServerError;

/// What the server has of the protocol.
#[derive(Debug)]
pub(crate) struct Mcp {
    desk: Desk,
    sessions: Sessions,
}

impl Mcp {
    pub(crate) fn new(offer: Arc<dyn Offer>) -> Result<Self, ServerError> {
        Ok(Self { desk: Desk::new(offer)?, sessions: Sessions::default() })
    }

    /// How many sessions there are, and how many requests wait for their clients to come back.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.sessions.count(), self.desk.waiting.count())
    }
}
