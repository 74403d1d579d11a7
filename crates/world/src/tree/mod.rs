//! Folders with everything in them: named by a hash, moved, kept, removed.

mod copy;
mod depth;
mod file;
mod hash;
mod links;
mod remove;
mod store;
mod visit;

pub(crate) use self::{
    copy::{CopyFiles, TreePlace, copy_tree, link_entry},
    depth::{MAX_DEPTH, TooDeep, check as check_depth},
    file::hash_file,
    hash::{Hashing, Visited, hash, names},
    remove::remove,
    store::Trees,
    visit::visit,
};
