//! Providers and models that need no configuration. Only data: what changes here changes no code.

use config::Config;
use provider::Format;

use super::{Price, choice::DEMO};

/// A provider that needs no more than its key.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its name in the configuration.
    pub name: &'static str,
    /// What it speaks.
    pub format: Format,
    /// Where it usually is.
    pub base_url: &'static str,
    /// Variables that usually hold its key; the first that is set counts.
    pub keys: &'static [&'static str],
    /// The variable that says where it is instead.
    pub base_variable: Option<&'static str>,
    /// Whether it answers without a key.
    pub key: KeyNeed,
    /// The model to use where nobody names one.
    pub model: Option<&'static str>,
    /// Tokens that a model of it reads and writes at most about which nothing else is known.
    pub context_tokens: u32,
    /// Its common models.
    pub models: &'static [KnownModel],
}

/// Whether a provider answers without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyNeed {
    /// It does not.
    Required,
    /// It does, as a rule.
    Optional,
}

/// A model whose price and size are known.
#[derive(Debug, Clone, Copy)]
pub struct KnownModel {
    /// As its provider calls it.
    pub name: &'static str,
    /// Tokens it reads and writes at most.
    pub context_tokens: u32,
    /// What its tokens cost.
    pub price: Price,
}

/// Tokens that a model reads and writes at most about which nothing is known. A provider that takes
/// less says so when there are more.
pub(super) const CONTEXT_TOKENS: u32 = 128_000;
/// The same on a machine of one's own, where memory is the limit.
const LOCAL_TOKENS: u32 = 32_768;

/// Every known provider, in the order in which they are looked for.
pub const fn known_providers() -> &'static [Known] {
    KNOWN
}

/// The names that rules about providers may use: those of `config`, those that need no configuration, and
/// the built-in demo.
pub fn provider_names(config: &Config) -> Vec<String> {
    let known = KNOWN.iter().map(|known| known.name).chain([DEMO]);
    config.providers.keys().cloned().chain(known.map(str::to_owned)).collect()
}

/// The known provider of this name.
pub(super) fn provider(name: &str) -> Option<&'static Known> {
    KNOWN.iter().find(|known| known.name.eq_ignore_ascii_case(name))
}

/// What is known about a model, whoever serves it: by its name, with the date of a snapshot after it
/// or a vendor before it (`anthropic/claude-sonnet-5.5`).
pub(super) fn model(name: &str) -> Option<&'static KnownModel> {
    let bare = plain(name.rsplit('/').next().unwrap_or(name));
    KNOWN.iter().flat_map(|known| known.models).find(|model| is_snapshot(&bare, &plain(model.name)))
}

impl Known {
    /// What is known about this provider's `model`.
    pub(super) fn has(&self, model: &str) -> bool {
        let name = plain(model);
        self.models.iter().any(|known| is_snapshot(&name, &plain(known.name)))
    }
}

/// Some write versions with a point and some without.
fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace('.', "-")
}

/// `gpt-5.4` and `gpt-5.4-2026-03-05`, not `gpt-5.4-mini`.
fn is_snapshot(name: &str, of: &str) -> bool {
    let Some(rest) = name.strip_prefix(of) else { return false };
    let digits = rest.bytes().filter(u8::is_ascii_digit).count();
    let dated = rest.starts_with('-') && digits >= 8;
    rest.is_empty() || rest == "-latest" || (dated && rest.bytes().all(is_date))
}

const fn is_date(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'-'
}

const fn known_model(name: &'static str, context_tokens: u32, price: Price) -> KnownModel {
    KnownModel { name, context_tokens, price }
}

const KNOWN: &[Known] = &[
    Known {
        name: "anthropic",
        format: Format::Anthropic,
        base_url: "https://api.anthropic.com",
        keys: &["ANTHROPIC_API_KEY"],
        base_variable: Some("ANTHROPIC_BASE_URL"),
        key: KeyNeed::Required,
        model: Some("claude-sonnet-5-5"),
        context_tokens: CONTEXT_TOKENS,
        models: ANTHROPIC,
    },
    Known {
        name: "openai",
        format: Format::OpenAi,
        base_url: "https://api.openai.com/v1",
        keys: &["OPENAI_API_KEY"],
        base_variable: Some("OPENAI_BASE_URL"),
        key: KeyNeed::Required,
        // Later ones call tools only over `openai-responses`.
        model: Some("gpt-5.4"),
        context_tokens: CONTEXT_TOKENS,
        models: OPENAI,
    },
    Known {
        name: "openai-responses",
        format: Format::OpenAiResponses,
        base_url: "https://api.openai.com/v1",
        keys: &["OPENAI_API_KEY"],
        base_variable: Some("OPENAI_BASE_URL"),
        key: KeyNeed::Required,
        model: Some("gpt-6.1-sol"),
        context_tokens: CONTEXT_TOKENS,
        models: OPENAI,
    },
    Known {
        name: "gemini",
        format: Format::Gemini,
        base_url: "https://generativelanguage.googleapis.com",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base_variable: None,
        key: KeyNeed::Required,
        model: Some("gemini-3.8-flash"),
        context_tokens: CONTEXT_TOKENS,
        models: GEMINI,
    },
    Known {
        name: "openrouter",
        format: Format::OpenAi,
        base_url: "https://openrouter.ai/api/v1",
        keys: &["OPENROUTER_API_KEY"],
        base_variable: None,
        key: KeyNeed::Required,
        model: Some("openrouter/auto"),
        context_tokens: CONTEXT_TOKENS,
        models: &[],
    },
    Known {
        name: "ollama",
        format: Format::OpenAi,
        base_url: "http://127.0.0.1:11434/v1",
        keys: &[],
        base_variable: Some("OLLAMA_HOST"),
        key: KeyNeed::Optional,
        model: Some("qwen3"),
        context_tokens: LOCAL_TOKENS,
        models: &[],
    },
    Known {
        name: "vllm",
        format: Format::OpenAi,
        base_url: "http://127.0.0.1:8000/v1",
        keys: &["VLLM_API_KEY"],
        base_variable: None,
        key: KeyNeed::Optional,
        model: None,
        context_tokens: LOCAL_TOKENS,
        models: &[],
    },
];

/// List prices of November 2026, for prompts of usual length.
const ANTHROPIC: &[KnownModel] = &[
    known_model("claude-fable-5-1", 1_000_000, Price::mills(10_000, 250, 50_000)),
    known_model("claude-opus-5-5", 1_000_000, Price::mills(4_000, 200, 20_000)),
    known_model("claude-sonnet-5-5", 1_000_000, Price::mills(2_000, 100, 10_000)),
    known_model("claude-haiku-5-5", 1_000_000, Price::mills(100, 10, 500)),
    known_model("claude-opus-5", 1_000_000, Price::mills(5_000, 500, 25_000)),
    known_model("claude-sonnet-5", 1_000_000, Price::mills(2_000, 200, 10_000)),
    known_model("claude-opus-4-8", 1_000_000, Price::mills(5_000, 500, 25_000)),
    known_model("claude-opus-4-7", 1_000_000, Price::mills(5_000, 500, 25_000)),
    known_model("claude-opus-4-6", 1_000_000, Price::mills(5_000, 500, 25_000)),
    known_model("claude-opus-4-5", 200_000, Price::mills(5_000, 500, 25_000)),
    known_model("claude-sonnet-4-6", 1_000_000, Price::mills(3_000, 300, 15_000)),
    known_model("claude-sonnet-4-5", 200_000, Price::mills(3_000, 300, 15_000)),
    known_model("claude-haiku-4-5", 200_000, Price::mills(1_000, 100, 5_000)),
];

const OPENAI: &[KnownModel] = &[
    known_model("gpt-6-astra", 1_050_000, Price::mills(10_000, 1_000, 50_000)),
    known_model("gpt-6.1-sol", 1_050_000, Price::mills(2_000, 100, 10_000)),
    known_model("gpt-6.1-terra", 1_050_000, Price::mills(1_000, 50, 5_000)),
    known_model("gpt-6-sol", 872_000, Price::mills(2_000, 200, 10_000)),
    known_model("gpt-6-luna", 1_000_000, Price::mills(100, 10, 500)),
    known_model("gpt-5.6", 1_050_000, Price::mills(4_000, 400, 20_000)),
    known_model("gpt-5.6-sol", 1_050_000, Price::mills(4_000, 400, 20_000)),
    known_model("gpt-5.6-terra", 1_050_000, Price::mills(2_000, 200, 12_000)),
    known_model("gpt-5.6-luna", 400_000, Price::mills(200, 20, 1_200)),
    known_model("gpt-5.5", 1_050_000, Price::mills(5_000, 500, 30_000)),
    known_model("gpt-5.4", 1_050_000, Price::mills(2_500, 250, 15_000)),
    known_model("gpt-5.4-mini", 400_000, Price::mills(750, 75, 4_500)),
    known_model("gpt-5.4-nano", 400_000, Price::mills(200, 20, 1_250)),
    known_model("gpt-5", 400_000, Price::mills(1_250, 125, 10_000)),
    known_model("gpt-5-mini", 400_000, Price::mills(250, 25, 2_000)),
    known_model("gpt-4.1", 1_047_576, Price::mills(2_000, 500, 8_000)),
    known_model("gpt-4.1-mini", 1_047_576, Price::mills(400, 100, 1_600)),
    known_model("gpt-4o", 128_000, Price::mills(2_500, 1_250, 10_000)),
    known_model("gpt-4o-mini", 128_000, Price::mills(150, 75, 600)),
    known_model("o3", 200_000, Price::mills(2_000, 500, 8_000)),
    known_model("o4-mini", 200_000, Price::mills(1_100, 275, 4_400)),
];

const GEMINI: &[KnownModel] = &[
    // Half of this until the end of 2026.
    known_model("gemini-3.8-flash", 1_048_576, Price::mills(1_500, 150, 7_500)),
    known_model("gemini-3.5-flash", 1_048_576, Price::mills(1_500, 150, 9_000)),
    known_model("gemini-3.1-pro-preview", 1_048_576, Price::mills(2_000, 200, 12_000)),
    known_model("gemini-2.5-pro", 1_048_576, Price::mills(1_250, 125, 10_000)),
    known_model("gemini-2.5-flash", 1_048_576, Price::mills(300, 30, 2_500)),
    known_model("gemini-2.5-flash-lite", 1_048_576, Price::mills(100, 10, 400)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_known_by_its_name_its_snapshots_and_its_resellers() {
        for (name, expected) in [
            ("claude-sonnet-5-5", Some("claude-sonnet-5-5")),
            ("Claude-Sonnet-4-5-20250929", Some("claude-sonnet-4-5")),
            ("anthropic/claude-haiku-4.5", Some("claude-haiku-4-5")),
            ("gpt-5.4-2026-03-05", Some("gpt-5.4")),
            ("gpt-5.4-mini", Some("gpt-5.4-mini")),
            ("claude-haiku-4-5-latest", Some("claude-haiku-4-5")),
            // One that is newer, or another size, has another price.
            ("claude-opus-5-7", None),
            ("gpt-5.4-pro", None),
            ("gpt-5.4-1", None),
            ("qwen3", None),
            ("", None),
        ] {
            assert_eq!(model(name).map(|model| model.name), expected, "{name}");
        }
    }

    #[test]
    fn what_is_usual_is_known_and_no_name_is_there_twice() {
        for known in KNOWN {
            assert!(known.base_url.parse::<config::BaseUrl>().is_ok(), "{}", known.name);
            let usual = known.model.filter(|_| !known.models.is_empty());
            assert!(usual.is_none_or(|usual| known.has(usual)), "{}", known.name);
            for one in known.models {
                assert_eq!(model(one.name).map(|model| model.name), Some(one.name));
                assert!(one.price.cached_input < one.price.input, "{}", one.name);
                assert!(one.price.input < one.price.output, "{}", one.name);
            }
        }
    }
}
