//! What stands behind a capability and lives longer than a call.
//!
//! One folder each. This crate must not know stages, policy or transports: it is given what was
//! decided, and does that.
//!
//! Start from [`Runner`], which runs commands, and [`Shelf`], which has what is kept for a user.

mod exec;
mod notes;
mod shelf;
mod tasks;

pub use exec::{Runner, RunnerStats, refuse_outside};
pub use shelf::Shelf;
