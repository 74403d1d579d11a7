//! Folders with everything in them: named by a hash, moved, kept, removed.

mod copy;
mod hash;
mod remove;
mod store;
mod visit;

pub(crate) use self::{
    hash::{Hashing, Visited, hash, names},
    remove::remove,
    store::Trees,
    visit::visit,
};
