//! Which ready-made set of tools.

use super::Scalar;
use crate::{Kind, ProfileName, node::Node};

impl Scalar for ProfileName {
    const KIND: Kind = Kind::OneOf(Self::NAMES);

    fn read(node: &Node) -> Result<Self, String> {
        let text = node.text().unwrap_or_default();
        Self::ALL.into_iter().find(|profile| profile.name() == text).ok_or_else(|| Self::KIND.how())
    }
}
