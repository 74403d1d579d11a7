//! The fields that keys fill.

use std::collections::BTreeMap;

use crate::{Kind, Spanned, node::Node, problems::Problems, setting::Setting};

/// A field that a key fills.
pub(crate) trait Slot {
    /// What it takes.
    fn kind(&self) -> Kind;

    /// Takes `node`, or says why not.
    fn fill(&mut self, target: &Target<'_>, node: &Node, problems: &mut Problems);
}

/// What a value is written for.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    /// The whole key, for messages.
    pub(crate) key: &'a str,
    /// What stands for the last part in angle brackets.
    pub(crate) name: &'a str,
}

impl<T: Setting> Slot for Spanned<T> {
    fn kind(&self) -> Kind {
        T::KIND
    }
    fn fill(&mut self, target: &Target<'_>, node: &Node, problems: &mut Problems) {
        if let Some(value) = read(target, node, problems) {
            *self = value;
        }
    }
}

impl<T: Setting> Slot for Option<Spanned<T>> {
    fn kind(&self) -> Kind {
        T::KIND
    }
    fn fill(&mut self, target: &Target<'_>, node: &Node, problems: &mut Problems) {
        *self = read(target, node, problems);
    }
}

impl<T: Setting> Slot for BTreeMap<String, Spanned<T>> {
    fn kind(&self) -> Kind {
        T::KIND
    }
    fn fill(&mut self, target: &Target<'_>, node: &Node, problems: &mut Problems) {
        if let Some(value) = read(target, node, problems) {
            self.insert(target.name.to_owned(), value);
        }
    }
}

fn read<T: Setting>(
    target: &Target<'_>,
    node: &Node,
    problems: &mut Problems,
) -> Option<Spanned<T>> {
    let value = T::read(node, target.key, problems)?;
    Some(problems.spanned(value, node))
}
