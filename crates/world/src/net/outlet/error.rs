//! Why there is no answer.

use std::time::Duration;

use tool::{Source, ToolError};

/// Why there is no answer, or no more of it. For operators.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum OutletError {
    #[error("the URL of a request cannot be used: {0}")]
    Url(String),
    #[error("{0}")]
    Header(String),
    #[error("{message}")]
    Connect { message: String, source: Source },
    #[error(
        "`{host}` answers with {status}, a redirect{to}; redirects are not followed, so configure the URL it leads to"
    )]
    Redirected { host: String, status: u16, to: String },
    #[error("`{host}` sent nothing for {} s", after.as_secs_f64())]
    Silent { host: String, after: Duration },
    #[error("the answer of `{host}` broke off or makes no sense: {source}")]
    Broken { host: String, source: Source },
    #[error("the answer of `{host}` has more than {max} bytes")]
    TooLarge { host: String, max: u64 },
}

/// What is shown of where a redirect leads.
const MOST: usize = 200;

impl OutletError {
    /// A redirect; what may be a secret in its query is not repeated.
    pub(super) fn redirected(host: String, status: u16, location: Option<&[u8]>) -> Self {
        let shown = |location: &[u8]| {
            let text = String::from_utf8_lossy(location);
            let path = text.split(['?', '#']).next().unwrap_or_default();
            let short: String = path.chars().take(MOST).flat_map(char::escape_debug).collect();
            format!(" to `{short}`")
        };
        Self::Redirected { host, status, to: location.map(shown).unwrap_or_default() }
    }
}

/// What the rest of the network says is about connecting.
impl From<ToolError> for OutletError {
    fn from(error: ToolError) -> Self {
        Self::Connect { message: error.to_string(), source: error.into() }
    }
}
