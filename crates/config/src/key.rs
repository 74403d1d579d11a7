//! One thing that can be configured.

use crate::{Config, Kind, slot::Slot};

/// One thing that can be configured: what the parser, error messages and the reference read.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// `limits.rates.<tool>`; a part in angle brackets stands for any name.
    pub path: &'static str,
    /// The default as it would be written in the file; empty if there is none.
    pub default: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// The field it fills; the text is what stands for the part in angle brackets.
    pub(crate) slot: for<'a> fn(&'a mut Config, &str) -> &'a mut dyn Slot,
}

impl Key {
    /// What can be written there. Comes from the type of the field, so the two cannot differ.
    pub fn kind(&self) -> Kind {
        (self.slot)(&mut Config::default(), "").kind()
    }

    /// The section it belongs to.
    pub fn section(&self) -> &'static str {
        self.part(0).unwrap_or_default()
    }

    /// One part of the path.
    pub(crate) fn part(&self, depth: usize) -> Option<&'static str> {
        self.path.split('.').nth(depth)
    }
}
