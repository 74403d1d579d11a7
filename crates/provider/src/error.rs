//! The one error of this crate.

/// Why something a model, its provider or a client sent cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ProviderError {
    #[error("{at} must be {expected}, got {got}")]
    Unexpected { at: String, expected: &'static str, got: &'static str },
    #[error("{at} has no `{field}`")]
    Missing { at: &'static str, field: &'static str },
    #[error("`{one}` and `{other}` are the same field and say different things; send one of them")]
    TwoSpellings { one: String, other: String },
    #[error(
        "two calls have the id `{0}`, so their results could not be told apart; give each its own"
    )]
    DuplicateId(String),
    #[error("arguments in pieces (`partialArgs`) are not read; do not ask for them")]
    PartialArguments,
    #[error("an image is not valid base64: {0}")]
    Base64(String),
    #[error("a piece of the stream is not JSON: {0}")]
    NotJson(String),
    #[error("the stream ended before the message did: {0}")]
    Incomplete(&'static str),
    #[error("a piece of the stream belongs to {0}, which never began")]
    OutOfOrder(String),
    #[error("the stream has more than {max} {what}; ask for a shorter answer")]
    TooLarge { max: usize, what: &'static str },
    #[error("the provider reported an error: {0}")]
    Remote(String),
}
