//! The section `providers.<name>`.

use std::{collections::BTreeMap, time::Duration};

use tool::Format;

use crate::{BaseUrl, Decimal, SecretName, Spanned, Text};

/// A provider of models: one with a name of its own, or what is different about a known one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// What it speaks.
    pub format: Option<Spanned<Format>>,
    /// Where it is.
    pub base_url: Option<Spanned<BaseUrl>>,
    /// Which of `secrets` is the key it wants.
    pub key: Option<Spanned<SecretName>>,
    /// What goes along with every request.
    pub headers: BTreeMap<String, Spanned<Text>>,
    /// The model to use where nobody names one.
    pub model: Option<Spanned<String>>,
    /// How long it may send nothing.
    pub timeout: Spanned<Duration>,
    /// How often a request is tried again.
    pub retries: Spanned<u32>,
    /// Tokens that its models read and write at most.
    pub context_tokens: Option<Spanned<u32>>,
    /// US dollars for a million tokens read.
    pub input_price: Option<Spanned<Decimal>>,
    /// US dollars for a million tokens written.
    pub output_price: Option<Spanned<Decimal>>,
}

impl Default for Provider {
    fn default() -> Self {
        Self {
            format: None,
            base_url: None,
            key: None,
            headers: BTreeMap::new(),
            model: None,
            timeout: Duration::from_mins(2).into(),
            retries: 3.into(),
            context_tokens: None,
            input_price: None,
            output_price: None,
        }
    }
}
