//! Where in a file we are, and which keys are possible there.

use tool::{KeyPath, nearest};

use crate::{
    Key,
    key::is_name,
    keys,
    node::{Entry, shorten},
    openclaw,
};

/// A table of the file, and the keys that can follow.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    keys: Vec<&'static Key>,
    path: Vec<String>,
    /// What stands for the parts in angle brackets so far.
    pub(crate) names: Vec<String>,
}

impl Place {
    /// The top of the file.
    pub(crate) fn root() -> Self {
        Self { keys: keys().iter().collect(), ..Self::default() }
    }

    /// The place of `path`, or what is wrong with it.
    pub(crate) fn of(path: &KeyPath) -> Result<Self, String> {
        path.parts().iter().try_fold(Self::root(), |place, name| {
            place.step(name).ok_or_else(|| {
                let key = shorten(&place.shown_with(name));
                if place.leaf().is_some() {
                    return format!(
                        "unknown key `{key}`; nothing stands beneath `{}`",
                        place.shown()
                    );
                }
                format!("unknown key `{key}`; {}", place.hint(name))
            })
        })
    }

    /// One step down to `name`, or `None` if no key goes there.
    pub(crate) fn step(&self, name: &str) -> Option<Self> {
        let known = snake_case(name);
        let keys = self.following(|part| part == known);
        if !keys.is_empty() {
            return Some(Self { keys, path: self.with(&known), names: self.names.clone() });
        }
        let keys = self.following(is_name);
        let fits = !keys.is_empty() && !name.trim().is_empty();
        let names = || self.names.iter().map(String::as_str).chain([name]).map(str::to_owned);
        fits.then(|| Self { keys, path: self.with(name), names: names().collect() })
    }

    /// Whether `entry` is a key that `OpenClaw` has and we do not.
    pub(crate) fn is_foreign(&self, entry: &Entry) -> bool {
        let known = snake_case(&entry.name);
        self.following(|part| part == known).is_empty() && openclaw::knows(&self.with(&known))
    }

    /// The keys that end here or further down.
    pub(crate) fn keys(&self) -> &[&'static Key] {
        &self.keys
    }

    /// The key that ends here.
    pub(crate) fn leaf(&self) -> Option<&'static Key> {
        self.keys.iter().copied().find(|key| key.part(self.path.len()).is_none())
    }

    /// A key whose names are all known here, if this is a table that has a name.
    pub(crate) fn named(&self) -> Option<&'static Key> {
        let count = self.names.len();
        self.keys.iter().copied().find(|key| count > 0 && key.names() == count)
    }

    /// The parts of the whole key, as the reference spells them.
    pub(crate) fn path(&self) -> &[String] {
        &self.path
    }

    /// The whole key as people write it.
    pub(crate) fn shown(&self) -> String {
        let parts: Vec<_> = self.path.iter().map(|part| quoted(part)).collect();
        parts.join(".")
    }

    /// The whole key of something that is not known here.
    pub(crate) fn shown_with(&self, name: &str) -> String {
        Self { path: self.with(name), ..Self::default() }.shown()
    }

    /// What to write instead of `name`.
    pub(crate) fn hint(&self, name: &str) -> String {
        let parts = self.parts();
        if let Some(near) = nearest(name, parts.iter().copied()) {
            return format!("did you mean `{}`?", self.shown_with(near));
        }
        if let Some(elsewhere) = same_name(name) {
            return format!("did you mean `{elsewhere}`?");
        }
        let parts: Vec<_> = parts.iter().map(|part| format!("`{part}`")).collect();
        format!("known here: {}", parts.join(", "))
    }

    /// What can follow, without repetition.
    fn parts(&self) -> Vec<&'static str> {
        let depth = self.path.len();
        let mut parts: Vec<&str> = Vec::new();
        for part in self.keys.iter().filter_map(|key| key.part(depth)) {
            if !parts.contains(&part) {
                parts.push(part);
            }
        }
        parts
    }

    fn following(&self, fits: impl Fn(&str) -> bool) -> Vec<&'static Key> {
        let depth = self.path.len();
        self.keys.iter().copied().filter(|key| key.part(depth).is_some_and(&fits)).collect()
    }

    fn with(&self, name: &str) -> Vec<String> {
        self.path.iter().map(String::as_str).chain([name]).map(str::to_owned).collect()
    }
}

/// The key that is called so in another table, spelled nearly alike; of several the one with the shortest path.
fn same_name(name: &str) -> Option<&'static str> {
    let last = |key: &Key| key.path.rsplit('.').find(|part| !is_name(part)).unwrap_or_default();
    let meant = snake_case(name);
    let exact = keys().iter().filter(|key| last(key) == meant);
    if let Some(key) = exact.min_by_key(|key| key.path.split('.').count()) {
        return Some(key.path);
    }
    // Short names are like many others.
    let names = keys().iter().map(last).filter(|part| part.len() >= MIN_GUESSED);
    let near = nearest(&meant, names)
        .filter(|near| meant.len() >= MIN_GUESSED && near.len().abs_diff(meant.len()) <= 2)?;
    let found = keys().iter().filter(|key| last(key) == near);
    found.min_by_key(|key| key.path.split('.').count()).map(|key| key.path)
}

/// A shorter name is not guessed in other tables.
const MIN_GUESSED: usize = 6;

/// `callsPerAgent` as `calls_per_agent`; anything else as it is.
pub(crate) fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
            snake.push(letter.to_ascii_lowercase());
        } else {
            snake.push(letter);
        }
    }
    snake
}

/// Quotes a part that TOML would not take as it is.
fn quoted(part: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '<' | '>');
    if !part.is_empty() && part.chars().all(bare) { part.to_owned() } else { format!("{part:?}") }
}

#[cfg(test)]
mod tests {
    use super::{quoted, snake_case};

    #[test]
    fn camel_case_is_the_same_key() {
        for (name, expected) in [
            ("callsPerAgent", "calls_per_agent"),
            ("calls_per_agent", "calls_per_agent"),
            ("Tools", "Tools"),
            ("calls_Per", "calls__per"),
            ("", ""),
        ] {
            assert_eq!(snake_case(name), expected);
        }
    }

    #[test]
    fn shows_a_part_as_it_would_be_written() {
        for (part, expected) in [("a-b", "a-b"), ("a.b", r#""a.b""#), ("", r#""""#)] {
            assert_eq!(quoted(part), expected);
        }
    }
}
