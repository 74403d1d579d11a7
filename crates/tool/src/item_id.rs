//! The name of something people keep.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Digits and letters, without those that look like others.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// Five bits each: nobody guesses one.
const LENGTH: usize = 26;
/// With its dashes.
const UUID_LENGTH: usize = 36;
/// So much of it is enough for people to tell it from others.
const SHORT: usize = 8;

/// Names a note, a task, a token, an approval. People and models may write the beginning of it.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct ItemId(String);

impl ItemId {
    /// A random one.
    pub fn random() -> Self {
        // Five bits of each byte; the bytes that carry the version of a UUID are left out.
        let one = || Uuid::new_v4().into_bytes().into_iter().enumerate();
        let random = one().chain(one());
        let usable = random.filter(|(index, _)| !matches!(index, 6 | 8)).take(LENGTH);
        let letter = |(_, byte)| LETTERS.get(usize::from(byte & 31_u8)).copied();
        Self(usable.filter_map(letter).map(char::from).collect())
    }

    /// A random UUID: the form of notes and tasks, which other programs store.
    pub fn random_uuid() -> Self {
        Self(Uuid::new_v4().to_string())
    }

    /// The beginning of it, for people.
    pub fn short(&self) -> &str {
        self.0.get(..SHORT).unwrap_or(&self.0)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ItemId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Forgives what people mistype: capitals, and letters that look like digits. The beginning of an id
/// is one too, until the store has found the whole of it.
impl FromStr for ItemId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let meant = |letter: char| match letter.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        };
        let id: String = text.trim().chars().map(meant).collect();
        // Whole UUIDs are written in several ways, and kept in one.
        if let Ok(uuid) = Uuid::try_parse(&id) {
            return Ok(Self(uuid.to_string()));
        }
        if (SHORT..=LENGTH).contains(&id.len())
            && id.bytes().all(|letter| LETTERS.contains(&letter))
        {
            return Ok(Self(id));
        }
        if (SHORT..UUID_LENGTH).contains(&id.len()) && begins_uuid(&id) {
            return Ok(Self(id));
        }
        Err(format!(
            "`{text}` is not an id: that is a UUID, or the first {SHORT} characters of an id"
        ))
    }
}

/// Whether `text` could be the first characters of a UUID.
fn begins_uuid(text: &str) -> bool {
    text.bytes().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_differ_and_can_be_typed() {
        let ids: HashSet<_> = (0..1_000).map(|_| ItemId::random()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(ids.iter().all(|id| id.to_string().parse() == Ok(id.clone())));
        let uuid = ItemId::random_uuid();
        assert_eq!(uuid.to_string().parse(), Ok(uuid));
    }

    #[test]
    fn forgives_what_people_mistype() {
        for (text, expected) in [
            (" 0A1b2C3d ", Some("0a1b2c3d")),
            ("oAlbIc3d", Some("0a1b1c3d")),
            ("0a1b2c3d4", Some("0a1b2c3d4")),
            ("0a1b2c3", None),
            ("0a1b2c3u", None),
            ("0a1b2c3é", None),
            ("0A1B2C3D-4E5F", Some("0a1b2c3d-4e5f")),
            ("0a1b2c3d-", Some("0a1b2c3d-")),
            ("0a1b2c3d-4e5f-4000-8000-00000000000", Some("0a1b2c3d-4e5f-4000-8000-00000000000")),
            ("0A1B2C3D-4E5F-4000-8000-000000000000", Some("0a1b2c3d-4e5f-4000-8000-000000000000")),
            ("0a1b2c3d4e5f40008000000000000000", Some("0a1b2c3d-4e5f-4000-8000-000000000000")),
            ("0a1b2c3d-4e5g", None),
            ("0a1b2c3-d4e5f", None),
            ("0a1b2c3d-4e5f-4000-8000-0000000000000", None),
        ] {
            let id = ItemId::from_str(text).ok();
            assert_eq!(id.as_ref().map(ItemId::as_str), expected, "{text}");
        }
    }
}
