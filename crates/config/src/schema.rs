//! The keys as data, for programs.

use tool::{ConfigChange, ConfigKey, KeyPath};

use crate::{Key, place::Place};

/// The keys at `path` and beneath it, all of them if it is empty. The error says what is wrong with
/// `path`.
pub fn schema(path: &KeyPath) -> Result<Vec<ConfigKey>, String> {
    Ok(Place::of(path)?.keys().iter().map(|key| described(key)).collect())
}

fn described(key: &Key) -> ConfigKey {
    let Key { path, default, help, slot: _ } = *key;
    let default = Some(default).filter(|default| !default.is_empty());
    let changeable = ConfigChange::is_possible(path);
    ConfigKey { path, value: key.kind().how(), default, help, changeable }
}
