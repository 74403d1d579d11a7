//! Wire formats.

use tool::Format;

use super::Scalar;
use crate::{Kind, node::Node};

impl Scalar for Format {
    const KIND: Kind = Kind::OneOf(Self::NAMES);

    fn read(node: &Node) -> Result<Self, String> {
        let text = node.text().unwrap_or_default();
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| Self::KIND.how())
    }
}
