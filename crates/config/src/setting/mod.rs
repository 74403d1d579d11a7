//! How each kind of value is read: one file per kind.

mod address;
mod count;
mod decimal;
mod duration;
mod host;
mod list;
mod name;
mod path;
mod rate;
mod secret;
mod size;
mod text;
mod words;

pub use duration::parse_duration;

use crate::{Kind, node::Node, problems::Problems};

/// What a key can hold.
pub(crate) trait Setting: Sized {
    /// What can be written.
    const KIND: Kind;

    /// What `node` says, or `None` and at least one problem.
    fn read(node: &Node, key: &str, problems: &mut Problems) -> Option<Self>;
}

/// What can be an item of a list.
pub(crate) trait Scalar: Sized {
    /// What can be written.
    const KIND: Kind;

    /// What `node` says, or what should have been there.
    fn read(node: &Node) -> Result<Self, String>;
}

impl<T: Scalar> Setting for T {
    const KIND: Kind = T::KIND;

    fn read(node: &Node, key: &str, problems: &mut Problems) -> Option<Self> {
        let read = T::read(node);
        read.inspect_err(|expected| problems.unexpected(node, key, T::KIND, expected)).ok()
    }
}

/// Splits `30s` into 30 and `s`.
fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, unit.trim_start()))
}
