//! One thing that can be configured.

use crate::{Config, Kind, slot::Slot};

/// Finds a field, and makes the tables around it if need be.
pub(crate) type FindSlot = for<'a> fn(&'a mut Config, &[String]) -> &'a mut dyn Slot;

/// One thing that can be configured: what the parser, error messages and the reference read.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// `limits.rates.<tool>`; each part in angle brackets stands for any name.
    pub path: &'static str,
    /// The default as it would be written in the file; empty if there is none.
    pub default: &'static str,
    /// What it is for.
    pub help: &'static str,
    /// The field it fills; the names are what stands for the parts in angle brackets.
    pub(crate) slot: FindSlot,
}

impl Key {
    /// What can be written there. Comes from the type of the field, so the two cannot differ.
    pub fn kind(&self) -> Kind {
        (self.slot)(&mut Config::default(), &[]).kind()
    }

    /// The section it belongs to.
    pub fn section(&self) -> &'static str {
        self.part(0).unwrap_or_default()
    }

    /// The table it stands in; a map of values is a key of the table around it.
    pub(crate) fn table(&self) -> &'static str {
        let around = |path: &'static str| path.rsplit_once('.').map_or(path, |(table, _)| table);
        let table = around(self.path);
        if self.path.ends_with('>') && table.contains('.') { around(table) } else { table }
    }

    /// How many names it takes.
    pub(crate) fn names(&self) -> usize {
        self.path.split('.').filter(|part| is_name(part)).count()
    }

    /// One part of the path.
    pub(crate) fn part(&self, depth: usize) -> Option<&'static str> {
        self.path.split('.').nth(depth)
    }
}

/// Whether a part of a path stands for any name.
pub(crate) fn is_name(part: &str) -> bool {
    part.starts_with('<')
}
