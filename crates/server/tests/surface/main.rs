//! The server as clients see it: a real one on a free port, spoken to byte by byte.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed setup should fail the test"
)]

mod agents;
mod answering;
mod authentication;
mod calling;
mod chat;
mod children;
mod client;
mod describing;
mod ending;
mod helper;
mod hosts;
mod isolation;
mod limits;
mod listing;
mod mcp;
mod mcp_results;
mod mcp_sessions;
mod messages;
mod scoped;
mod scopes;
mod senders;
mod sessions;
mod signing_in;
mod socket;
mod speaking;
mod tools;
mod users;
mod watching;
