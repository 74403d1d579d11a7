//! Tokens and sign-in links: made here, shown once, and kept nowhere but with whoever they are for.

use std::fmt;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use tool::Digest;

use crate::ServerError;

/// What a token begins with, so that people and scanners know one when they see it.
const TOKEN: &str = "tg_";
/// What the secret of a sign-in link begins with.
const LINK: &str = "tgl_";
/// As many bytes of chance are in one.
const BYTES: usize = 32;
/// None is longer.
pub(crate) const MAX_LENGTH: usize = 256;

/// A new secret. It is shown once, to whoever it is for; only its hash is kept.
pub struct NewSecret {
    text: String,
}

impl NewSecret {
    /// For a token.
    pub fn token() -> Result<Self, ServerError> {
        Self::new(TOKEN)
    }

    /// For a link that signs a browser in.
    pub fn link() -> Result<Self, ServerError> {
        Self::new(LINK)
    }

    fn new(prefix: &str) -> Result<Self, ServerError> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| ServerError::Random(error.to_string()))?;
        Ok(Self { text: format!("{prefix}{}", URL_SAFE_NO_PAD.encode(bytes)) })
    }

    /// All of it.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What is kept of it.
    pub fn hash(&self) -> Digest {
        hash(&self.text)
    }
}

impl fmt::Debug for NewSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewSecret")
    }
}

/// What the store knows of a secret.
pub(crate) fn hash(secret: &str) -> Digest {
    Digest::of(secret)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_differ_are_long_and_hide_in_logs() {
        let (one, other) = (NewSecret::token().unwrap(), NewSecret::token().unwrap());
        assert_ne!(one.reveal(), other.reveal());
        assert_eq!(one.reveal().len(), 46);
        assert!(one.reveal().len() < MAX_LENGTH);
        assert_eq!(format!("{one:?}"), "NewSecret");
    }
}
