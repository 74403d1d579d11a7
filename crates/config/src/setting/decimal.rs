//! Numbers with a point.

use super::Scalar;
use crate::{
    Decimal, Kind,
    node::{Node, Value},
};

impl Scalar for Decimal {
    const KIND: Kind = Kind::Decimal;

    fn read(node: &Node) -> Result<Self, String> {
        let decimal = match node.value {
            Value::Integer(whole) => Self::from_whole(whole),
            Value::Float(float) => Self::from_float(float),
            Value::Text(_)
            | Value::Bool(_)
            | Value::List(_)
            | Value::Table(_)
            | Value::Other(_) => None,
        };
        decimal.ok_or_else(|| Self::KIND.how())
    }
}
