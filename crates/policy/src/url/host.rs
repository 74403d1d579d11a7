//! Names that belong to one machine or one network.

use super::UrlRefusal;

/// Names, with everything beneath them, that never mean a public host.
const LOCAL: &[(&str, &str)] = &[
    ("localhost", "means this machine"),
    ("localdomain", "means this machine"),
    ("local", "is a name of the local network"),
    ("lan", "is a name of the local network"),
    ("home", "is a name of the local network"),
    ("home.arpa", "is a name of the local network"),
    ("corp", "is a name of the local network"),
    ("internal", "is a name of the local network"),
    ("intranet", "is a name of the local network"),
    ("private", "is a name of the local network"),
    ("onion", "is a name of the Tor network"),
    ("metadata.goog", "is a cloud's metadata service"),
];

/// The name as it is compared and used: lower case, without the dot at its end.
pub(super) fn normalise(name: &str) -> Result<String, UrlRefusal> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let fits = name.len() <= 253 && name.split('.').all(|label| (1..=63).contains(&label.len()));
    // The URL parser has already mapped and lowered it; this holds if that ever changes.
    let plain =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | '_');
    if !fits || !name.chars().all(plain) {
        return Err(UrlRefusal::new("host.name", format!("`{name}` is not a host name")));
    }
    Ok(name.to_owned())
}

/// Why `name` cannot be a public host, if it cannot.
pub(super) fn local(name: &str) -> Option<&'static str> {
    let is = |local: &str| {
        name.strip_suffix(local).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let listed = LOCAL.iter().find(|(local, _)| is(local)).map(|(_, why)| *why);
    listed.or_else(|| (!name.contains('.')).then_some("is a name of the local network"))
}
