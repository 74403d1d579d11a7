//! Conversations with models that are played by a server on this machine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod errors;
mod helper;
mod picking;
mod retries;
mod streams;
