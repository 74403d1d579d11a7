//! What every shell reads as bash does.

/// What only bash has, or reads in its own way.
const ONLY_BASH: &[&str] = &[
    "[[", "((", "$'", "$\"", "$[", "<(", ">(", "&>", "|&", "<<<", ";&", "+=", "]=", "=(", "{", "!(",
];
const ONLY_BASH_WORDS: &[&str] = &["coproc", "function", "select", "time"];

/// Whether every shell reads `text` as bash does.
pub(super) fn is_portable(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    // `${x}` is the same everywhere; other braces are not.
    let plain = text.replace("${", "");
    !ONLY_BASH.iter().any(|form| plain.contains(form))
        && !words.any(|word| ONLY_BASH_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::is_portable;

    #[test]
    fn knows_what_only_bash_has() {
        for (text, expected) in [
            ("a | b && c > d 2>&1", true),
            ("a ${x:-1} \"$y\" 'z'", true),
            ("a ((b))", false),
            ("a $'b'", false),
            ("time a", false),
            ("timeout 5 a", true),
            ("a {b,c}", false),
        ] {
            assert_eq!(is_portable(text), expected, "{text}");
        }
    }
}
