//! What a call can do to the world.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One way to touch the world.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks at something on this machine.
    Read,
    /// Sends a request out; nothing changes there.
    Fetch,
    /// Changes something, and it can be undone.
    Write,
    /// Changes something elsewhere, or for good.
    Act,
}

impl Effect {
    const ALL: [Self; 4] = [Self::Read, Self::Fetch, Self::Write, Self::Act];

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Fetch => "fetch",
            Self::Write => "write",
            Self::Act => "act",
        })
    }
}

/// All effects of a call. Empty means pure. A set, because reading is not a small kind of writing:
/// `read` with `fetch` can leak a file, which neither can alone.
#[derive(Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Effects(u8);

/// As it is written: a list.
impl JsonSchema for Effects {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Effects".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Vec<Effect>>()
    }
}

impl Effects {
    /// Pure.
    pub const NONE: Self = Self(0);

    /// The set of `effects`.
    pub const fn of(mut effects: &[Effect]) -> Self {
        let mut bits = 0;
        while let [first, rest @ ..] = effects {
            bits |= first.bit();
            effects = rest;
        }
        Self(bits)
    }

    /// Whether `effect` is in the set.
    pub const fn contains(self, effect: Effect) -> bool {
        self.0 & effect.bit() != 0
    }

    /// Whether nothing is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether everything in this set is in `other` too.
    pub const fn is_subset(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    /// Whether something changes: such a call is durable before it runs, and runs alone.
    pub const fn changes(self) -> bool {
        self.contains(Effect::Write) || self.contains(Effect::Act)
    }

    /// The effects, in order.
    pub fn iter(self) -> impl Iterator<Item = Effect> {
        Effect::ALL.into_iter().filter(move |effect| self.contains(*effect))
    }
}

impl FromIterator<Effect> for Effects {
    fn from_iter<I: IntoIterator<Item = Effect>>(effects: I) -> Self {
        Self(effects.into_iter().fold(0, |bits, effect| bits | effect.bit()))
    }
}

/// `read, write`, or `pure`.
impl fmt::Display for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("pure");
        }
        for (index, effect) in self.iter().enumerate() {
            write!(f, "{}{effect}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl fmt::Debug for Effects {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Serialize for Effects {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Effects {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Effect>::deserialize(deserializer)?.into_iter().collect())
    }
}
