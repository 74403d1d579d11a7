//! When to ask.

use super::Scalar;
use crate::{Ask, Kind, node::Node};

impl Scalar for Ask {
    const KIND: Kind = Kind::OneOf(Self::NAMES);

    fn read(node: &Node) -> Result<Self, String> {
        let text = node.text().unwrap_or_default();
        Self::ALL.into_iter().find(|ask| ask.name() == text).ok_or_else(|| Self::KIND.how())
    }
}
