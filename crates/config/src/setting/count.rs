//! How many of something.

use std::num::NonZeroUsize;

use super::Scalar;
use crate::{
    Kind,
    node::{Node, Value},
};

impl Scalar for u32 {
    const KIND: Kind = Kind::Count;

    fn read(node: &Node) -> Result<Self, String> {
        let Value::Integer(number) = node.value else { return Err(Self::KIND.how()) };
        Self::try_from(number).map_err(|_| Self::KIND.how())
    }
}

impl Scalar for usize {
    const KIND: Kind = Kind::Count;

    // Through `u32`: what counts calls and items panics or overflows long before `usize` is full.
    fn read(node: &Node) -> Result<Self, String> {
        Self::try_from(u32::read(node)?).map_err(|_| Self::KIND.how())
    }
}

impl Scalar for NonZeroUsize {
    const KIND: Kind = Kind::Positive;

    fn read(node: &Node) -> Result<Self, String> {
        usize::read(node).ok().and_then(Self::new).ok_or_else(|| Self::KIND.how())
    }
}
