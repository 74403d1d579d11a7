//! Names of tools and of groups of tools.

use super::Scalar;
use crate::{Kind, node::Node};

impl Scalar for String {
    const KIND: Kind = Kind::Name;

    fn read(node: &Node) -> Result<Self, String> {
        let name = node.text().map(str::trim).filter(|name| !name.is_empty());
        name.map(str::to_owned).ok_or_else(|| Self::KIND.how())
    }
}
