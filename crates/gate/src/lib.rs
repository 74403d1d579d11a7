//! The one function every tool call goes through: [`Gate::call`].
//!
//! This crate must not know a transport, a concrete tool or a sandbox. It is given capabilities as
//! traits of `tool`, and tools as [`tool::AnyTool`].
//!
//! Start from [`standard`], which puts the stages in order, and [`Gate`], which is what you call.

mod answering;
mod approver;
mod ask;
mod at_once;
mod cache;
mod call;
mod check;
mod definition;
mod effective;
mod emergency;
mod foreign;
mod gate;
mod hook;
mod json_size;
mod observer;
mod outcome;
mod own;
mod parts;
mod pem;
mod permissions;
mod pipeline;
mod questions;
mod rates;
mod redactor;
mod refusals;
mod registry;
mod reload;
mod review;
mod settings;
mod shared;
mod short;
mod slots;
mod stages;
mod stats;
mod stream;
mod subject;
mod trail;
mod trust;
mod turn;
mod underway;
mod undo;
mod unrecorded;
mod validate;
mod views;

pub use answering::answer;
pub use approver::{Approver, Question, Reply};
pub use call::{ArgumentRewrite, Call};
pub use check::{Check, named};
pub use definition::{DefinitionLimits, RegistryError};
pub use effective::{EffectivePermission, effective_permissions};
pub use foreign::{Foreign, HOOK};
pub use gate::{Gate, Request, standard};
pub use hook::{Before, Hook, HookCall, HookRewrite, PersistedBlocks};
pub use observer::{Finished, Observer, Started};
pub use own::Operation;
pub use parts::Parts;
pub use permissions::default_permission;
pub use pipeline::{Next, Pipeline, Stage};
pub use redactor::Redactor;
pub use registry::{Entry, Registry, Snapshot};
pub use shared::Shared;
pub use stats::Stats;
pub use store::{Answer, Decision as AnswerDecision};
pub use views::{Found, View};
