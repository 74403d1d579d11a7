//! Long lists, page by page.

use schemars::JsonSchema;
use serde::Deserialize;

/// So many are listed at most,
const MOST: u32 = 500;
/// and so many unless told otherwise.
const USUALLY: u32 = 100;

/// What somebody is told who comes with a cursor that is none.
pub(super) const NO_CURSOR: &str = "`cursor` must be the `next` of the page before";

/// Which page.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Paging {
    /// At most so many, up to 500; 100 unless told otherwise.
    pub(super) limit: Option<u32>,
    /// Where the page before ended: its `next`.
    pub(super) cursor: Option<String>,
}

/// How many are wanted.
pub(super) fn limit(wanted: Option<u32>) -> Result<u32, String> {
    let limit = wanted.unwrap_or(USUALLY);
    if (1..=MOST).contains(&limit) {
        return Ok(limit);
    }
    Err(format!("`limit` must be from 1 to {MOST}"))
}

/// Of one more than wanted, those that are wanted; and the place of the last of them if there are more.
pub(super) fn cut<T>(
    mut all: Vec<T>,
    limit: u32,
    place: impl Fn(&T) -> String,
) -> (Vec<T>, Option<String>) {
    let more = all.len() > limit as usize;
    all.truncate(limit as usize);
    let next = all.last().filter(|_| more).map(place);
    (all, next)
}
