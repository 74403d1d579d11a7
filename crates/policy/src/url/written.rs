//! How a URL is written. Programs read some spellings differently; those are refused, not guessed.

use super::UrlRefusal;

/// Longer URLs are refused by most servers too.
const MAX_BYTES: usize = 16 * 1024;

/// Refuses spellings that parsers are known to disagree about.
pub(super) fn check(text: &str) -> Result<(), UrlRefusal> {
    let refuse = |reason: &str| Err(UrlRefusal::new("url.ambiguous", reason));
    if text.len() > MAX_BYTES {
        let reason = format!("the URL has {} bytes; at most {MAX_BYTES} are allowed", text.len());
        return Err(UrlRefusal::new("url.length", reason));
    }
    if text.chars().any(char::is_control) {
        return refuse("the URL has control characters in it; encode them, as in `%0A`");
    }
    let before_query = text.split(['?', '#']).next().unwrap_or_default();
    if before_query.contains('\\') {
        return refuse("the URL has a backslash in it; write `/`, or `%5C` for the character");
    }
    Ok(())
}

/// What stands between `//` and the path, as it was written.
pub(super) fn authority(text: &str) -> &str {
    let after = text.split_once("://").map(|(_, rest)| rest).unwrap_or_default();
    after.split(['/', '?', '#']).next().unwrap_or_default()
}

/// Whether `authority` spells the address plainly: not octal, hexadecimal, shortened or encoded.
pub(super) fn is_plain_address(authority: &str, address: &str) -> bool {
    let rest = authority.strip_prefix(address);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}
