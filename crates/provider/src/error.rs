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
    #[error("the conversation is empty; say something")]
    NothingSaid,
    #[error("`mcp` is for tools, not for conversations; use another format")]
    NoConversation,
    #[error("`{at}`: {error}")]
    At { at: String, error: Box<Self> },
    #[error("{what} `{kind}` is not taken; send {instead}")]
    NotTaken { what: &'static str, kind: String, instead: &'static str },
    #[error("images are not fetched from elsewhere (`{0}`); send the image itself in base64")]
    RemoteImage(String),
    #[error("`{0}` is a tool of the provider's own, which is not there; send functions only")]
    ForeignTool(String),
    #[error("threads are not kept here; send the whole conversation, without `thread`")]
    Thread,
    #[error("`{field}` is {count}, but there is one answer to a request; ask again for another")]
    ManyAnswers { field: &'static str, count: u64 },
}

impl ProviderError {
    /// The type of the error that a client is told whose request could not be read.
    pub const fn kind(&self) -> &'static str {
        // By this name its clients know that they may go on without.
        if matches!(self, Self::Thread) { "thread_unsupported_request" } else { "validation_error" }
    }

    /// Something in a message that is neither text nor an image.
    pub(crate) fn content(kind: &str) -> Self {
        Self::NotTaken { what: "content of type", kind: kind.to_owned(), instead: "text or images" }
    }

    /// A field that asks for something we do not do.
    pub(crate) fn asked(field: &str, instead: &'static str) -> Self {
        Self::NotTaken { what: "the field", kind: field.to_owned(), instead }
    }
}

/// Says where in a request something is wrong.
pub(crate) trait Located<T> {
    /// `part`, such as `messages`, at `index`.
    fn at(self, part: &str, index: usize) -> Result<T, ProviderError>;
}

impl<T> Located<T> for Result<T, ProviderError> {
    fn at(self, part: &str, index: usize) -> Self {
        self.map_err(|error| {
            let here = format!("{part}[{index}]");
            if let ProviderError::At { at, error } = error {
                return ProviderError::At { at: format!("{here}.{at}"), error };
            }
            ProviderError::At { at: here, error: Box::new(error) }
        })
    }
}
