//! Settings that are one of a few words.

use tool::{Format, Place};

use super::Scalar;
use crate::{
    Access, Ask, HookEvent, Kind, Minimum, ProfileName, SafeOperands, Security, Switch,
    node::{Node, Value},
};

/// Each type has its variants in `ALL`, their names in `NAMES` and `name`.
macro_rules! words {
    ($($word:ty),*) => {$(
        impl Scalar for $word {
            const KIND: Kind = Kind::OneOf(Self::NAMES);

            fn read(node: &Node) -> Result<Self, String> {
                let text = node.text().unwrap_or_default();
                Self::ALL.into_iter().find(|one| one.name() == text).ok_or_else(|| Self::KIND.how())
            }
        }
    )*};
}

words!(Access, Ask, Format, HookEvent, Minimum, ProfileName, SafeOperands, Security);

/// One of a few words, and an old name of one of them.
impl Scalar for Place {
    const KIND: Kind = Kind::OneOf(Self::NAMES);

    fn read(node: &Node) -> Result<Self, String> {
        Self::named(node.text().unwrap_or_default()).ok_or_else(|| Self::KIND.how())
    }
}

impl Scalar for Switch {
    const KIND: Kind = Kind::Switch;

    fn read(node: &Node) -> Result<Self, String> {
        match node.value {
            Value::Bool(true) => Ok(Self::On),
            Value::Bool(false) => Ok(Self::Off),
            Value::Text(_)
            | Value::Integer(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Table(_)
            | Value::Other(_) => Err(Self::KIND.how()),
        }
    }
}
