//! How often something may happen.

use std::time::Duration;

use tool::Rate;

use super::Scalar;
use crate::{Kind, node::Node};

impl Scalar for Rate {
    const KIND: Kind = Kind::Rate;

    fn read(node: &Node) -> Result<Self, String> {
        let how = || Self::KIND.how();
        let (calls, unit) = node.text().and_then(|text| text.split_once('/')).ok_or_else(how)?;
        let per = match unit.trim() {
            "s" => Duration::from_secs(1),
            "min" => Duration::from_mins(1),
            "h" => Duration::from_hours(1),
            "day" => Duration::from_hours(24),
            _ => return Err(how()),
        };
        match whole_number(calls.trim()).ok_or_else(how)? {
            0 => Err("at least one call (`tools.deny` switches a tool off)".to_owned()),
            calls => Ok(Self { calls, per }),
        }
    }
}

/// Digits only: `str::parse` takes a sign too.
fn whole_number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}
