//! What a session has read that nobody vouches for, and what then goes out.

use crate::url::CheckedUrl;

/// A path that is longer says more than where something is.
const MAX_PATH: usize = 64;
/// So is a host name.
const MAX_HOST: usize = 64;
/// How many sources people are shown by name.
const NAMED: usize = 3;
/// How much of what goes out a reason shows; the question has all of it.
const SHOWN: usize = 200;

/// What untrusted content a session has read before a call.
#[derive(Debug, Clone, Copy, Default)]
pub struct Untrusted<'a> {
    /// Where it came from, oldest first.
    pub sources: &'a [String],
    /// The URLs of the call that stood in it, as they are checked: a link that is followed tells
    /// nobody anything.
    pub followed: &'a [String],
}

impl Untrusted<'_> {
    /// What fetching `url` would tell its host, if anybody may have wanted that.
    pub(crate) fn tells(&self, url: &CheckedUrl) -> Option<String> {
        let followed = || self.followed.iter().any(|followed| followed == url.as_str());
        if self.sources.is_empty() || !carries_content(url) || followed() {
            return None;
        }
        let what: String = url.target().chars().take(SHOWN).collect();
        let cut = if what.len() < url.target().len() { " …" } else { "" };
        Some(format!("it tells `{}` `{what}`{cut}{}", url.authority(), self.in_words()))
    }

    /// Goes on after a reason; empty if nothing was read.
    pub(crate) fn in_words(&self) -> String {
        if self.sources.is_empty() {
            return String::new();
        }
        let named = self.sources.iter().take(NAMED).map(|source| format!("`{source}`"));
        let named: Vec<_> = named.collect();
        let more = match self.sources.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("; this session has read untrusted content from {}{more}", named.join(", "))
    }
}

/// Whether a URL has room for more than the name of something.
fn carries_content(url: &CheckedUrl) -> bool {
    let (path, query) = url.target().split_once('?').unwrap_or((url.target(), ""));
    !query.is_empty() || path.len() > MAX_PATH || url.host().len() > MAX_HOST
}

#[cfg(test)]
mod tests {
    use super::Untrusted;
    use crate::url::{UrlRules, check};

    #[test]
    fn what_goes_out_after_untrusted_content_is_noticed() {
        let sources = |count: usize| (0..count).map(|n| format!("https://{n}.example/"));
        let long = "x".repeat(65);
        let host = format!("{}.{}.example", "a".repeat(40), "b".repeat(40));
        let followed = ["https://a.example/?q=1".to_owned()];
        let read = "; this session has read untrusted content from `https://0.example/`";
        for (count, url, expected) in [
            (0, "https://a.example/?q=2", String::new()),
            (1, "https://a.example/", String::new()),
            (1, "https://a.example/#part", String::new()),
            (1, "https://a.example/?", String::new()),
            (1, "https://a.example/?q=1", String::new()),
            (1, "https://a.example/?q=2", format!("it tells `a.example` `/?q=2`{read}")),
            (
                1,
                &format!("https://a.example/{long}"),
                format!("it tells `a.example` `/{long}`{read}"),
            ),
            (1, &format!("https://{host}/"), format!("it tells `{host}` `/`{read}")),
            (
                5,
                "https://a.example:8443/?q=2",
                format!(
                    "it tells `a.example:8443` `/?q=2`{read}, `https://1.example/`, `https://2.example/` and \
                     2 more"
                ),
            ),
        ] {
            let sources: Vec<_> = sources(count).collect();
            let untrusted = Untrusted { sources: &sources, followed: &followed };
            let network = config::parse("[tools.web.network]\nallow = ['*:8443', '*']", "t.toml");
            let rules = UrlRules::new(&network.unwrap().tools.web.network);
            let told = untrusted.tells(&check(url, &rules).unwrap());
            assert_eq!(told.unwrap_or_default(), expected, "{url}");
        }
    }
}
