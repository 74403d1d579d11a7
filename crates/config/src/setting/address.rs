//! Addresses of this machine, and where pages come from.

use std::net::SocketAddr;

use super::Scalar;
use crate::{Kind, Origin, node::Node};

impl Scalar for SocketAddr {
    const KIND: Kind = Kind::Address;

    fn read(node: &Node) -> Result<Self, String> {
        node.text().and_then(|text| text.trim().parse().ok()).ok_or_else(|| Self::KIND.how())
    }
}

impl Scalar for Origin {
    const KIND: Kind = Kind::Origin;

    fn read(node: &Node) -> Result<Self, String> {
        node.text().and_then(|text| text.parse().ok()).ok_or_else(|| Self::KIND.how())
    }
}
