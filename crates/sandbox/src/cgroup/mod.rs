//! Limits that the kernel counts for a whole tree of processes.
//!
//! A launcher joins its groups once; a command it forks is born in them. Only folders named
//! `toolgate-…` beneath our own group, or beside it, are made, and only ours are removed.

mod base;
mod group;
mod name;

pub(crate) use self::{base::Bases, group::Group};
