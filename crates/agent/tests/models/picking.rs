//! Which model is meant.

use agent::Price;
use provider::Format;

use crate::helper::{KEY, configuration, models};

/// `provider/model`, or the error.
fn picked(text: &str, variables: &'static [(&'static str, &'static str)], wanted: &str) -> String {
    let wanted = Some(wanted).filter(|wanted| !wanted.is_empty());
    match models(text, variables).pick(None, wanted) {
        Ok(choice) => choice.to_string(),
        Err(error) => error.to_string(),
    }
}

const BOTH: &[(&str, &str)] = &[("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY)];
const LOCAL: &str = "[providers.local]\nformat = 'openai'\nbase_url = 'http://127.0.0.1:1/v1'";

#[test]
fn without_anything_there_is_the_demo() {
    assert_eq!(picked("", &[], ""), "demo/demo");
    assert_eq!(picked("", &[("OPENAI_API_KEY", "  ")], ""), "demo/demo");
    assert_eq!(picked("", &[("OPENAI_BASE_URL", "http://127.0.0.1:1")], ""), "demo/demo");
    // A provider without a usual model is not one to begin with.
    assert_eq!(picked(LOCAL, &[], ""), "demo/demo");
    let demo = models("", &[]).pick(None, None).unwrap();
    assert_eq!((demo.is_demo(), demo.price), (true, Some(Price::default())));
}

#[test]
fn what_is_configured_comes_before_what_is_found_in_a_fixed_order() {
    for (text, variables, expected) in [
        ("", BOTH, "anthropic/claude-sonnet-5-5"),
        ("", &[("OPENAI_API_KEY", KEY)][..], "openai/gpt-5.4"),
        ("", &[("GOOGLE_API_KEY", KEY)], "gemini/gemini-3.8-flash"),
        ("", &[("OPENROUTER_API_KEY", KEY)], "openrouter/openrouter/auto"),
        ("", &[("OLLAMA_HOST", "127.0.0.1")], "ollama/qwen3"),
        ("[providers.openai]", BOTH, "openai/gpt-5.4"),
        ("[providers.OpenAI]\nmodel = 'gpt-9'", BOTH, "OpenAI/gpt-9"),
        // What cannot be used is passed over where nobody asked for it.
        ("[providers.gemini]", BOTH, "anthropic/claude-sonnet-5-5"),
        ("[providers.ollama]\nmodel = 'llama'", &[], "ollama/llama"),
    ] {
        assert_eq!(picked(text, variables, ""), expected, "{text} {variables:?}");
    }
}

#[test]
fn a_model_is_named_with_its_provider_or_without() {
    for (wanted, expected) in [
        ("openai/gpt-5.4-mini", "openai/gpt-5.4-mini"),
        ("OpenAI/GPT", "openai/GPT"),
        ("openai", "openai/gpt-5.4"),
        ("openai-responses", "openai-responses/gpt-6.1-sol"),
        ("openai/", "openai/gpt-5.4"),
        ("demo", "demo/demo"),
        ("local/a/b", "local/a/b"),
        // Whose it is is known, or it is the default one's.
        ("gpt-5.4-mini", "openai/gpt-5.4-mini"),
        ("claude-opus-5-5", "anthropic/claude-opus-5-5"),
        ("something-new", "local/something-new"),
        (" gpt-5.4-mini ", "openai/gpt-5.4-mini"),
    ] {
        assert_eq!(picked(LOCAL, BOTH, wanted), expected, "{wanted}");
    }
}

#[test]
fn what_is_missing_is_said_with_the_nearest() {
    for (text, wanted, expected) in [
        (
            "",
            "anthropic/claude-sonnet-5-5",
            "the provider `anthropic` cannot be used: it is not configured; set \
             `ANTHROPIC_API_KEY`, or add `[providers.anthropic]`",
        ),
        (
            "",
            "claude-sonnet-5-5",
            "the provider `anthropic` cannot be used: it is not configured; set \
             `ANTHROPIC_API_KEY`, or add `[providers.anthropic]`",
        ),
        (
            "",
            "ollama",
            "the provider `ollama` cannot be used: it is not configured; set `OLLAMA_HOST`, or add \
             `[providers.ollama]`",
        ),
        (
            "[providers.gemini]",
            "gemini",
            "the provider `gemini` cannot be used: it has no key; set `GEMINI_API_KEY` or \
             `GOOGLE_API_KEY`, or name a secret as `providers.gemini.key`",
        ),
        ("", "opnai/gpt", "unknown provider `opnai` in `opnai/gpt`; did you mean `openai`?"),
        (LOCAL, "xyz/abc", "unknown provider `xyz` in `xyz/abc`; there are `local`, `demo`"),
        (
            LOCAL,
            "local",
            "`local` has no usual model; name one as `local/MODEL`, or set `providers.local.model`",
        ),
        (
            "",
            "claude-sonet-5.5",
            "no provider for the model `claude-sonet-5.5`; did you mean `claude-sonnet-5-5`? write \
             `provider/model`, and set a key such as `ANTHROPIC_API_KEY`",
        ),
        (
            "[providers.x]\nbase_url = 'http://127.0.0.1:1'",
            "x/y",
            "the provider `x` cannot be used: `providers.x.format` is missing; say what it speaks",
        ),
        (
            "[providers.x]\nformat = 'openai'",
            "x/y",
            "the provider `x` cannot be used: `providers.x.base_url` is missing; say where it is",
        ),
        (
            "[providers.x]\nformat = 'mcp'\nbase_url = 'http://127.0.0.1:1'",
            "x/y",
            "the provider `x` cannot be used: its format is `mcp`, which is for tools and not for \
             models",
        ),
        (
            // Somebody wrote the key itself.
            "providers.x = {format = 'openai', base_url = 'http://x', key = 'sk-hunter2'}\n\
             secrets.a = 'env:A'",
            "x/y",
            "the provider `x` cannot be used: `providers.x.key` does not name one of `secrets`, \
             which has `a`",
        ),
    ] {
        assert_eq!(picked(text, &[], wanted), expected, "{text} {wanted}");
    }
    let odd: &[_] = &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", "nowhere")];
    assert!(picked("", odd, "openai").contains("`OPENAI_BASE_URL` must be a URL such as"));
}

#[test]
fn an_agent_has_its_own_and_a_wish_is_stronger() {
    let config = configuration("[agents.a]\nmodel = 'openai/gpt-5.4-nano'");
    let models = models("", BOTH);
    let agent = config.agents.get("a");
    for (wanted, expected) in [
        (None, "openai/gpt-5.4-nano"),
        (Some(""), "anthropic/claude-sonnet-5-5"),
        (Some("claude-opus-5-5"), "anthropic/claude-opus-5-5"),
    ] {
        assert_eq!(models.pick(agent, wanted).unwrap().to_string(), expected);
    }
}

#[test]
fn sizes_and_prices_are_those_of_the_configuration_or_of_the_table() {
    let models = models(
        "[providers.local]\nformat = 'openai'\nbase_url = 'http://127.0.0.1:1'\n\
         context_tokens = 4096\ninput_price = 0.5\n[providers.vllm]",
        BOTH,
    );
    for (wanted, tokens, price) in [
        ("local/x", 4_096, Some((500_000, 500_000, 0))),
        ("vllm/x", 32_768, None),
        ("anthropic/claude-sonnet-5-5", 1_000_000, Some((2_000_000, 100_000, 10_000_000))),
        ("anthropic/claude-new", 128_000, None),
        ("openai/gpt-4o-2024-11-20", 128_000, Some((2_500_000, 1_250_000, 10_000_000))),
    ] {
        let choice = models.pick(None, Some(wanted)).unwrap();
        let price =
            price.map(|(input, cached_input, output)| Price { input, cached_input, output });
        assert_eq!((choice.context_tokens, choice.price), (tokens, price), "{wanted}");
    }
    assert_eq!(models.pick(None, Some("local/x")).unwrap().format, Format::OpenAi);
}

#[test]
fn keys_of_the_environment_are_secrets_and_never_shown() {
    let text = "[providers.openai]\nkey = 'mine'\n[secrets]\nmine = 'env:MINE'";
    let models = models(text, BOTH);
    let secrets = models.secrets();
    let names: Vec<_> = secrets.keys().map(String::as_str).collect();
    // The other one is in the list of secrets already.
    assert_eq!(names, ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"]);
    assert!(secrets.values().all(|value| value.reveal() == KEY));
    assert_eq!(models.providers(), ["openai", "anthropic", "openai-responses", "demo"]);
    assert!(!format!("{models:?} {secrets:?}").contains("hunter2"));
}
