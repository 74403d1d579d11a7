//! Goes through a file and fills the configuration.

use std::collections::BTreeMap;

use crate::{
    Config,
    node::{Entry, Node, Value, shorten},
    place::Place,
    problems::Problems,
    slot::Target,
};

/// Fills `config` with what `entries`, the top of a file, say.
pub(crate) fn fill(config: &mut Config, entries: &[Entry], problems: &mut Problems) {
    Walk { config, problems }.table(&Place::root(), entries);
}

struct Walk<'a> {
    config: &'a mut Config,
    problems: &'a mut Problems,
}

impl Walk<'_> {
    fn table(&mut self, place: &Place, entries: &[Entry]) {
        let mut seen = BTreeMap::new();
        for entry in entries {
            if self.problems.is_full() {
                return;
            }
            if place.is_foreign(entry) {
                self.foreign(place, entry);
                continue;
            }
            let Some(next) = place.step(&entry.name) else {
                self.unknown(place, entry);
                continue;
            };
            match seen.insert(next.shown(), entry) {
                Some(other) => self.twice(&next, other, entry),
                None => self.entry(&next, &entry.node),
            }
        }
    }

    fn entry(&mut self, place: &Place, node: &Node) {
        match (place.leaf(), &node.value) {
            (Some(key), _) => {
                let name = place.names.last().map(String::as_str).unwrap_or_default();
                let target = Target { key: &place.shown(), name };
                let slot = (key.slot)(self.config, &place.names);
                slot.fill(&target, node, self.problems);
            }
            (None, Value::Table(entries)) => {
                // An agent with an empty table is an agent all the same.
                if let Some(key) = place.named() {
                    (key.slot)(self.config, &place.names);
                }
                self.table(place, entries);
            }
            (None, _) => self.not_a_table(place, node),
        }
    }

    // The content is not shown: it may be a secret in the wrong place.
    fn not_a_table(&mut self, place: &Place, node: &Node) {
        let key = place.shown();
        let message = format!("`{key}`: expected a table, got {}", node.what());
        self.problems.add(node.position, &key, message);
    }

    fn unknown(&mut self, place: &Place, entry: &Entry) {
        let key = shorten(&place.shown_with(&entry.name));
        let message = format!("unknown key `{key}`; {}", place.hint(&entry.name));
        self.problems.add(entry.position, &key, message);
    }

    fn foreign(&mut self, place: &Place, entry: &Entry) {
        let key = shorten(&place.shown_with(&entry.name));
        self.problems.foreign(entry.position, &key);
    }

    fn twice(&mut self, place: &Place, one: &Entry, other: &Entry) {
        let (key, line) = (place.shown(), one.position.line);
        let message = if one.name == other.name {
            format!("`{}` stands in line {line} already; keep one of them", shorten(&key))
        } else {
            format!("`{}` and `{}` are the same key; keep one of them", one.name, other.name)
        };
        self.problems.add(other.position, &key, message);
    }
}
