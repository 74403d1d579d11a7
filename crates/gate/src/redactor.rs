//! Takes secrets out of text.

use std::{borrow::Cow, fmt, sync::LazyLock};

use aho_corasick::{AhoCorasick, MatchKind};
use hmac::{Hmac, KeyInit, Mac};
use regex::{Captures, Regex};
use serde_json::Value;
use sha2::Sha256;

use crate::pem;

/// Begins every mark that stands for a secret.
const MARK: &str = "⟦redacted:";

/// Secrets shorter than this are not looked for: they would be found in ordinary words.
const MIN_SECRET: usize = 6;

/// The most a pattern can span, a private key in PEM above all.
const MAX_PATTERN: usize = 8 * 1024;

/// A kind of secret that is known by how it looks.
struct SecretPattern {
    kind: &'static str,
    /// A group named `s` is the secret itself, where the rest may stay. No counted repetition beyond a
    /// few, which would make the search as slow as the count is large; and word boundaries of ASCII
    /// only: those of Unicode make the engine give up its fast path in text with other letters.
    pattern: &'static str,
    /// Every match contains one of these, in any case. Most text has none of them.
    hints: &'static [&'static str],
}

const PATTERNS: &[SecretPattern] = &[
    SecretPattern {
        kind: "aws_key",
        pattern: r"(?-u:\b)(?:AKIA|ASIA)[0-9A-Z]{16}(?-u:\b)",
        hints: &["AKIA", "ASIA"],
    },
    SecretPattern {
        kind: "github_token",
        pattern: r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36}[A-Za-z0-9]*|github_pat_[A-Za-z0-9_]{22}[A-Za-z0-9_]*)(?-u:\b)",
        hints: &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    },
    SecretPattern {
        kind: "gitlab_token",
        pattern: r"(?-u:\b)glpat-[A-Za-z0-9_\-]{20}[A-Za-z0-9_\-]*",
        hints: &["glpat-"],
    },
    SecretPattern {
        kind: "slack_token",
        pattern: r"(?-u:\b)xox[abposr]-[A-Za-z0-9\-]{10}[A-Za-z0-9\-]*",
        hints: &["xox"],
    },
    SecretPattern {
        kind: "api_key",
        pattern: r"(?-u:\b)sk-[A-Za-z0-9_\-]{20}[A-Za-z0-9_\-]*",
        hints: &["sk-"],
    },
    SecretPattern {
        kind: "stripe_key",
        pattern: r"(?-u:\b)[rs]k_live_[A-Za-z0-9]{16}[A-Za-z0-9]*",
        hints: &["k_live_"],
    },
    SecretPattern {
        kind: "google_key",
        pattern: r"(?-u:\b)AIza[0-9A-Za-z_\-]{35}",
        hints: &["AIza"],
    },
    SecretPattern {
        kind: "npm_token",
        pattern: r"(?-u:\b)npm_[A-Za-z0-9]{36}(?-u:\b)",
        hints: &["npm_"],
    },
    SecretPattern {
        kind: "jwt",
        pattern: r"(?-u:\b)eyJ[A-Za-z0-9_\-]{8}[A-Za-z0-9_\-]*\.eyJ[A-Za-z0-9_\-]{8}[A-Za-z0-9_\-]*\.[A-Za-z0-9_\-]{8}[A-Za-z0-9_\-]*",
        hints: &["eyJ"],
    },
    SecretPattern {
        kind: "bearer",
        pattern: r"(?i)(?-u:\b)bearer\s+(?P<s>[a-z0-9._~+/=\-]{16}[a-z0-9._~+/=\-]*)",
        hints: &["bearer"],
    },
    SecretPattern {
        kind: "url_password",
        pattern: r"(?-u:\b)[a-z][a-z0-9+.\-]{1,15}://[^\s/:@]*:(?P<s>[^\s/@]{3}[^\s/@]*)@",
        hints: &["://"],
    },
];

static REGEXES: LazyLock<Vec<(&'static str, Regex)>> = LazyLock::new(|| {
    let compiled = PATTERNS
        .iter()
        .map(|SecretPattern { kind, pattern, .. }| Regex::new(pattern).map(|regex| (*kind, regex)));
    compiled.filter_map(Result::ok).collect()
});

/// One look that says which patterns could match.
static HINTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let hints = PATTERNS.iter().flat_map(|pattern| pattern.hints);
    AhoCorasick::builder().ascii_case_insensitive(true).build(hints).ok()
});

/// Which of [`PATTERNS`] each hint belongs to.
static HINTED: LazyLock<Vec<usize>> = LazyLock::new(|| {
    let patterns = PATTERNS.iter().enumerate();
    patterns.flat_map(|(index, pattern)| pattern.hints.iter().map(move |_| index)).collect()
});

/// The patterns that could match `text`, as a set of bits.
fn hinted(text: &str) -> u32 {
    let Some(hints) = HINTS.as_ref() else { return u32::MAX };
    let all = (1 << PATTERNS.len()) - 1;
    let mut found = 0_u32;
    for hint in hints.find_overlapping_iter(text) {
        found |= HINTED.get(hint.pattern().as_usize()).map_or(0, |index| 1 << index);
        if found == all {
            break;
        }
    }
    found
}

/// Finds secrets: those configuration names, and what looks like one.
pub struct Redactor {
    key: Vec<u8>,
    names: Vec<String>,
    values: Option<AhoCorasick>,
    longest: usize,
}

impl Redactor {
    /// `key` makes the marks: the same secret has the same mark here and another one elsewhere.
    pub fn new(key: &[u8], secrets: impl IntoIterator<Item = (String, String)>) -> Self {
        let secrets: Vec<_> =
            secrets.into_iter().filter(|(_, value)| value.len() >= MIN_SECRET).collect();
        let values = (!secrets.is_empty()).then(|| {
            AhoCorasick::builder()
                .match_kind(MatchKind::LeftmostLongest)
                .build(secrets.iter().map(|(_, value)| value))
        });
        Self {
            key: key.to_vec(),
            longest: secrets.iter().map(|(_, value)| value.len()).max().unwrap_or_default(),
            names: secrets.into_iter().map(|(name, _)| name).collect(),
            values: values.and_then(Result::ok),
        }
    }

    /// The text without secrets; borrowed if there were none.
    pub fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.private_keys(self.named(text));
        let hinted = hinted(&text);
        REGEXES.iter().enumerate().fold(text, |text, (index, (kind, regex))| {
            if hinted >> index & 1 == 0 || !regex.is_match(&text) {
                return text;
            }
            Cow::Owned(
                regex
                    .replace_all(&text, |found: &Captures<'_>| self.replace(kind, found))
                    .into_owned(),
            )
        })
    }

    /// Whether something that a shell acts on is taken out of `text` because it looks like a secret.
    pub(crate) fn hides_code(text: &str) -> bool {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "._~+/=-%:!*,".contains(c);
        let secret = |found: Captures<'_>| {
            let secret = found.name("s").or_else(|| found.get(0));
            secret.is_some_and(|secret| !secret.as_str().chars().all(is_plain))
        };
        !pem::spans(text).is_empty()
            || REGEXES.iter().any(|(_, regex)| regex.captures_iter(text).any(secret))
    }

    /// The value with every text in it redacted, keys too.
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text).into_owned()),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| (self.text(key).into_owned(), self.value(value)))
                .collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    /// A text that is not needed as it was: one without secrets is not copied.
    pub(crate) fn clean(&self, text: String) -> String {
        match self.text(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => clean,
        }
    }

    /// The same for a value, keys too.
    pub(crate) fn cleaned(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.clean(text)),
            Value::Array(items) => items.into_iter().map(|item| self.cleaned(item)).collect(),
            Value::Object(map) => {
                map.into_iter().map(|(key, value)| (self.clean(key), self.cleaned(value))).collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value,
        }
    }

    /// Moves `cut` to before the secret it would cut in two.
    pub(crate) fn before_secret(&self, text: &str, mut cut: usize) -> usize {
        loop {
            let named = self.values.iter().flat_map(|values| values.find_iter(text));
            let named = named.map(|found| found.start()..found.end());
            let looks = REGEXES.iter().flat_map(|(_, regex)| regex.find_iter(text));
            let looks = looks.map(|found| found.range());
            let mut spans = named.chain(looks).chain(pem::spans(text));
            match spans.find(|span| span.start < cut && cut < span.end) {
                Some(span) => cut = span.start,
                None => return cut,
            }
        }
    }

    /// Whether a text carries a mark of ours back.
    pub fn is_marked(text: &str) -> bool {
        text.contains(MARK)
    }

    /// The length of the longest secret that configuration names.
    pub fn longest_named(&self) -> usize {
        self.longest
    }

    /// The most of a stream that is ever held back.
    pub fn hold_back(&self) -> usize {
        self.longest.max(MAX_PATTERN)
    }

    fn named<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let Some(values) = self.values.as_ref().filter(|values| values.is_match(text)) else {
            return Cow::Borrowed(text);
        };
        let mut out = String::with_capacity(text.len());
        values.replace_all_with(text, &mut out, |found, secret, out| {
            let name = self.names.get(found.pattern().as_usize()).map_or("secret", String::as_str);
            out.push_str(&self.mark(name, secret));
            true
        });
        Cow::Owned(out)
    }

    /// By hand: a key is long, and what looks like the beginning of one may stand there often.
    fn private_keys<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        let spans = pem::spans(&text);
        if spans.is_empty() {
            return text;
        }
        let (mut out, mut from) = (String::with_capacity(text.len()), 0);
        for span in spans {
            out.push_str(text.get(from..span.start).unwrap_or_default());
            out.push_str(&self.mark("private_key", text.get(span.clone()).unwrap_or_default()));
            from = span.end;
        }
        out.push_str(text.get(from..).unwrap_or_default());
        Cow::Owned(out)
    }

    fn replace(&self, kind: &str, found: &Captures<'_>) -> String {
        let whole = found.get(0).map_or("", |all| all.as_str());
        found.name("s").map_or_else(
            || self.mark(kind, whole),
            |secret| whole.replace(secret.as_str(), &self.mark(kind, secret.as_str())),
        )
    }

    /// A keyed hash, so that nobody can find the secret by guessing and comparing.
    fn mark(&self, kind: &str, secret: &str) -> String {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.key) else {
            return format!("{MARK}{kind}⟧");
        };
        mac.update(secret.as_bytes());
        let bytes = mac.finalize().into_bytes();
        let hash = bytes.iter().take(4).fold(0_u32, |hash, byte| hash << 8 | u32::from(*byte));
        format!("{MARK}{kind}:{hash:08x}⟧")
    }
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redactor").field("names", &self.names).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Redactor;

    fn redactor() -> Redactor {
        Redactor::new(b"key", [("db".to_owned(), "hunter2hunter2".to_owned())])
    }

    #[test]
    fn every_pattern_compiles() {
        assert_eq!(super::REGEXES.len(), super::PATTERNS.len());
        assert!(super::PATTERNS.len() < 32, "they are a set of bits");
    }

    /// Bytes that are no text become characters outside ASCII. There, Unicode's word boundaries make
    /// each pattern about twelve times as slow, and 10 MB of output cost seconds.
    #[test]
    fn word_boundaries_are_those_of_ascii() {
        for pattern in super::PATTERNS {
            assert!(!pattern.pattern.replace(r"(?-u:\b)", "").contains(r"\b"), "{}", pattern.kind);
            assert!(!pattern.hints.is_empty());
        }
    }

    #[test]
    fn takes_out_what_is_named_and_what_looks_like_a_secret() {
        let redactor = redactor();
        let pem = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow==\n-----END RSA PRIVATE KEY-----";
        let github = format!("ghp_{}", "a1B2".repeat(9));
        for (text, kind) in [
            ("password is hunter2hunter2.", "db"),
            ("Authorization: Bearer abcdefghijklmnop.qrst", "bearer"),
            ("key AKIAIOSFODNN7EXAMPLE ends", "aws_key"),
            (pem, "private_key"),
            (github.as_str(), "github_token"),
            ("postgres://user:s3cretpw@host/db", "url_password"),
        ] {
            let out = redactor.text(text).into_owned();
            assert!(out.contains(&format!("⟦redacted:{kind}:")), "{text}: {out}");
            assert!(Redactor::is_marked(&out));
            for secret in
                ["hunter2", "abcdefghijklmnop", "AKIAIOSFODNN7", "MIIEow", "a1B2", "s3cretpw"]
            {
                assert!(!out.contains(secret), "{out}");
            }
            assert_eq!(out, redactor.text(text), "the same secret has the same mark");
        }
    }

    #[test]
    fn leaves_ordinary_text_alone() {
        let redactor = redactor();
        for text in ["", "the bearer of news", "https://example.org/a:b@c", "sketch", "hunter2"] {
            assert_eq!(redactor.text(text), text);
        }
        let value = json!({"a": [1, "hunter2hunter2"], "n": null});
        assert!(!redactor.value(&value).to_string().contains("hunter2hunter2"));
        assert_eq!(redactor.cleaned(value.clone()), redactor.value(&value));
    }
}
