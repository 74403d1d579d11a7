//! The keys as data, for programs.

use serde_json::{Value, json};
use tool::{ConfigChange, KeyPath};

use crate::{Key, place::Place};

/// The keys at `path` and beneath it, all of them if it is empty: what can be written there, the
/// default as it would be written, what it is for, and whether an agent may change it. The error says
/// what is wrong with `path`.
pub fn schema(path: &KeyPath) -> Result<Value, String> {
    Ok(Place::of(path)?.keys().iter().map(|key| described(key)).collect())
}

fn described(key: &Key) -> Value {
    let mut described = json!({
        "path": key.path,
        "value": key.kind().how(),
        "help": key.help,
        "changeable": ConfigChange::is_possible(key.path),
    });
    if !key.default.is_empty()
        && let Value::Object(fields) = &mut described
    {
        fields.insert("default".to_owned(), key.default.into());
    }
    described
}
