//! The section `limits`.

use std::{collections::BTreeMap, num::NonZeroUsize, time::Duration};

use tool::Rate;

use crate::Spanned;

/// What a call may use up. [`crate::keys`] says what each is for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the help of each key says it")]
pub struct Limits {
    /// Unset is each tool's own.
    pub timeout: Option<Spanned<Duration>>,
    /// By tool; stronger than `timeout`.
    pub timeouts: BTreeMap<String, Spanned<Duration>>,
    pub calls_per_agent: Spanned<NonZeroUsize>,
    pub waiting_per_agent: Spanned<usize>,
    pub calls_per_user: Spanned<NonZeroUsize>,
    pub rate_per_user: Spanned<Rate>,
    pub calls_total: Spanned<NonZeroUsize>,
    pub open_questions: Spanned<usize>,
    pub open_questions_per_user: Spanned<usize>,
    pub questions_per_minute: Spanned<usize>,
    pub approval_timeout: Spanned<Duration>,
    pub hook_timeout: Spanned<Duration>,
    pub output_bytes: Spanned<u64>,
    pub model_output_bytes: Spanned<u64>,
    pub string_bytes: Spanned<u64>,
    pub large_string_bytes: Spanned<u64>,
    pub array_items: Spanned<usize>,
    pub depth: Spanned<usize>,
    pub parameters: Spanned<usize>,
    pub file_bytes: Spanned<u64>,
    pub image_pixels: Spanned<u32>,
    pub image_bytes: Spanned<u64>,
    pub cache_bytes: Spanned<u64>,
    /// By tool; instead of the tool's own.
    pub rates: BTreeMap<String, Spanned<Rate>>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            timeout: None,
            timeouts: BTreeMap::new(),
            calls_per_agent: at_least_one(10),
            waiting_per_agent: 100.into(),
            calls_per_user: at_least_one(32),
            rate_per_user: Rate { calls: 600, per: Duration::from_mins(1) }.into(),
            calls_total: at_least_one(256),
            open_questions: 5.into(),
            open_questions_per_user: 20.into(),
            questions_per_minute: 20.into(),
            approval_timeout: Duration::from_mins(30).into(),
            hook_timeout: Duration::from_secs(5).into(),
            output_bytes: 10_000_000.into(),
            model_output_bytes: 50_000.into(),
            string_bytes: 100_000.into(),
            large_string_bytes: 10_000_000.into(),
            array_items: 1_000.into(),
            depth: 5.into(),
            parameters: 20.into(),
            file_bytes: 100_000_000.into(),
            image_pixels: 8_000.into(),
            image_bytes: 5_000_000.into(),
            cache_bytes: 64_000_000.into(),
            rates: BTreeMap::new(),
        }
    }
}

fn at_least_one(count: usize) -> Spanned<NonZeroUsize> {
    NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN).into()
}
