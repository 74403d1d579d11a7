//! Conversations: a model that follows a script, the real loop, the real gate.
#![expect(clippy::unwrap_used, reason = "a failed setup should fail the test")]

mod children;
mod ending;
mod helper;
mod interrupted;
mod rounds;
mod seeing;
mod theirs;
mod tools;
