//! What may run, and why. Pure: the same facts give the same decision.
//!
//! This crate must not touch the disk, the clock or the network. What it needs from them is looked
//! up before and given to it as [`tool::Facts`].
//!
//! Start from [`decide`], which answers for one call, and [`Rules`], which answers for one tool.

mod allowance;
mod catalogue;
mod check;
mod command;
mod configured_names;
mod credential;
mod decide;
mod explain;
mod layer;
mod name;
mod protected;
mod rules;
pub mod shell;
mod suggest;
mod untrusted;
pub mod url;

pub use allowance::Allowance;
pub use catalogue::planned;
pub use check::{Checked, CommandCheck, MISSING, Resolved, UrlCheck, check_path};
pub use command::complete;
pub use configured_names::{
    ConfigWarning, KnownNames, check_agent_names, check_names, config_warnings,
};
pub use credential::{is_credential, is_credential_folder};
pub use decide::{
    ACT_RULE, Decision, PROTECTED, Situation, UNTRUSTED_RULE, Verdict, decide, mode, review,
};
pub use explain::{Explanation, LayerVerdict, explain};
pub use layer::{Opinion, Rule};
pub use name::{fold, matches};
pub use protected::{Protected, ProtectedLevel};
pub use rules::{Rules, names_sender};
pub use suggest::{Past, Suggestion, suggest};
pub use untrusted::Untrusted;
