//! Toolgate over HTTP, WebSocket and MCP.
//!
//! This crate must not decide anything: a handler decodes a request, asks the gate, and encodes the
//! answer. What is its own is who a request comes from, and what a client may cost before and after
//! that is known.
//!
//! Start from [`Server`], which is what you run, and `api::table`, which lists every operation and from which
//! both the routes and their description are made. [`Events`] is what the gate tells it.

mod api;
mod auth;
mod calling;
mod chat;
mod connection;
mod connections;
mod error;
mod events;
mod guard;
mod leaving;
pub mod mcp;
mod metrics;
mod open_request;
mod outer;
mod parsing;
mod patient;
mod per_user;
mod problem;
mod rpc;
mod running;
mod server;
mod speaking;
mod spoken;
mod state;
mod ws;

pub use auth::{NewSecret, is_name};
pub use error::ServerError;
pub use events::Events;
pub use rpc::RpcError;
pub use server::{Parts, Server};
pub use state::Reload;
