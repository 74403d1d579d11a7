//! Hosts.

use super::Scalar;
use crate::{
    HostPattern, Kind,
    node::{Node, Value},
};

impl Scalar for HostPattern {
    const KIND: Kind = Kind::Host;

    fn read(node: &Node) -> Result<Self, String> {
        let Value::Text(text) = &node.value else { return Err(Self::KIND.how()) };
        text.parse().map_err(|_| Self::KIND.how())
    }
}
