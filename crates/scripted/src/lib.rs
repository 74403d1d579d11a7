//! A model that says what a test wants: a server on this machine that plays every vendor's stream, with
//! all that goes wrong on the way. Only for tests; nothing that ships depends on it.
//!
//! Start from [`ScriptedModel`], which serves, and [`Reply`], which is one thing it says.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod anthropic;
mod gemini;
mod http;
mod openai;
mod openai_responses;
mod reply;
mod server;

pub use http::Request;
pub use reply::{Call, Finish, Reply};
pub use server::ScriptedModel;
