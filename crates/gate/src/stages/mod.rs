//! One file per stage; [`crate::standard`] puts them in order.

mod approve;
mod contain;
mod deadline;
mod hooks;
mod permission;
mod rate;
mod record;
mod redact;
mod resolve;
mod reuse;
mod shape;
mod slot;
mod validate;

pub(crate) use approve::{Approve, Permit};
pub(crate) use contain::Contain;
pub(crate) use deadline::Deadline;
pub(crate) use hooks::Hooks;
pub(crate) use permission::Permission;
pub(crate) use rate::RateLimit;
pub(crate) use record::{OpenEntry, Record};
pub(crate) use redact::Redact;
pub(crate) use resolve::Resolve;
pub(crate) use reuse::Reuse;
pub(crate) use shape::Shape;
pub(crate) use slot::SlotStage;
pub(crate) use validate::Validate;

pub(crate) use approve::{Considered, consider, scopes, with_permissions};
pub(crate) use permission::{Standing, scope, standing};
pub(crate) use resolve::find;
pub(crate) use validate::{completed, plan};
