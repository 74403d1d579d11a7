//! The journal, from outside.
#![expect(clippy::unwrap_used, reason = "a failed setup should fail the test")]

mod append;
mod damage;
mod entries;
mod helper;
mod processes;
mod tamper;
