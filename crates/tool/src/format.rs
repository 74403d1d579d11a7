//! The wire formats models and their clients speak, by name.

use std::{fmt, str::FromStr};

use crate::nearest;

/// A wire format. A provider that is not listed speaks one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// `OpenAI` chat completions, and all that imitate them.
    OpenAi,
    /// `OpenAI` responses.
    OpenAiResponses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Model Context Protocol.
    Mcp,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 5] =
        [Self::OpenAi, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Mcp];

    /// The names people write, in the same order.
    pub const NAMES: &'static [&'static str] = &[
        Self::OpenAi.name(),
        Self::OpenAiResponses.name(),
        Self::Anthropic.name(),
        Self::Gemini.name(),
        Self::Mcp.name(),
    ];

    /// The name people write.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mcp => "mcp",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = text.trim().to_ascii_lowercase().replace('_', "-");
        Self::ALL.into_iter().find(|format| format.name() == wanted).ok_or_else(|| {
            let names = Self::NAMES;
            let hint = nearest(&wanted, names.iter().copied()).map_or_else(
                || format!("expected one of `{}`", names.join("`, `")),
                |name| format!("did you mean `{name}`?"),
            );
            format!("unknown format `{text}`; {hint}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Format;

    #[test]
    fn a_name_is_read_back_and_a_typo_names_the_nearest() {
        for format in Format::ALL {
            assert_eq!(format.to_string().parse::<Format>().unwrap(), format);
        }
        assert_eq!("OpenAI_Responses".parse::<Format>().unwrap(), Format::OpenAiResponses);
        for (text, expected) in [
            ("antropic", "unknown format `antropic`; did you mean `anthropic`?"),
            (
                "xyz",
                "unknown format `xyz`; expected one of `openai`, `openai-responses`, `anthropic`, \
                 `gemini`, `mcp`",
            ),
        ] {
            assert_eq!(text.parse::<Format>().unwrap_err(), expected);
        }
    }
}
