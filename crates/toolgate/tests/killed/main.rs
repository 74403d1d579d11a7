//! A server is killed in the middle of a conversation, as `kill -9` does it, and another one goes on.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "real processes are started and killed, and a failed setup should fail the test"
)]

mod helper;
#[path = "../clients/http.rs"]
mod http;
mod moments;
mod questions;
mod reloading;
mod restarting;
#[path = "../clients/served.rs"]
#[expect(dead_code, reason = "other tests share it and need more of it")]
mod served;
mod sweep;
