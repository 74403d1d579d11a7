//! What may run, and why. Pure: the same facts give the same decision.
//!
//! This crate must not touch the disk, the clock or the network. What it needs from them is looked
//! up before and given to it as [`tool::Facts`].
//!
//! Start from [`decide`], which answers for one call, and [`Rules`], which answers for one tool.

mod credential;
mod decide;
mod name;
mod protected;
mod rules;

pub use credential::is_credential;
pub use decide::{Decision, Verdict, decide};
pub use name::{fold, matches};
pub use protected::Protected;
pub use rules::{Rule, Rules};
