//! The command as people and programs run it: argv in, output and exit code out.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "the real binary is started, and a failed setup should fail the test"
)]

mod agents;
mod answering;
mod asking;
mod calling;
mod checking;
mod configuring;
mod connecting;
mod disk;
mod emergency;
mod formats;
mod helper;
mod hooking;
#[path = "../clients/http.rs"]
mod http;
mod operating;
mod remembering;
mod serving;
mod sessions;
mod suggesting;
mod users;
mod using;
