//! What a session has read that nobody vouches for, and what then goes out.

use crate::url::CheckedUrl;

/// A path that is longer says more than where something is.
const MAX_PATH: usize = 64;
/// More labels before a domain say more than which of its servers is meant.
const MAX_SERVER_LABELS: usize = 2;
/// Names that domains give their servers. A label that is none of these, nor a code of two letters, may be
/// data: whoever runs the domain's name servers reads it, also if the request itself is never sent.
const SERVER_LABELS: &str = "\
    account accounts admin api apis app apps archive assets auth beta blog board bugs cdn center \
    central chat ci cloud code community crates css data demo dev developer developers dist dl doc \
    docs download downloads edge edu email events explore faq feed feeds file files fonts forum \
    forums ftp gist git go groups guide guides help home hub id image images img info issues jobs \
    js lab labs learn legal lib library lists live login mail maps master media mirror mirrors \
    mobile my news next npm old open packages pages partner pkg play plugins portal preview proxy \
    public raw registry release releases repo repos research rss search secure security server \
    shop site sites source spec src ssl staging stat static stats status storage store support \
    survey test tools training tv uploads user users video videos web wiki wp www www2 www3 xml";
/// Labels behind which a country's registry gives out names, as in `co.uk`.
const REGISTRY_LABELS: &str = "ac co com edu go gob gov govt ne net nom or org";
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
    /// The hosts of the call that the session has been told about: it has read them, or from them.
    pub hosts: &'a [String],
}

impl Untrusted<'_> {
    /// What fetching `url` would tell its host, if anybody may have wanted that.
    pub(crate) fn tells(&self, url: &CheckedUrl) -> Option<String> {
        let followed = || self.followed.iter().any(|followed| followed == url.as_str());
        if self.sources.is_empty() || followed() {
            return None;
        }
        let told = self.hosts.iter().any(|host| host == url.host());
        if !told && let Some(domain) = domain_told(url) {
            return Some(format!(
                "it tells the name servers of `{domain}` the name `{}`, which the session has not \
                 been told{}",
                url.host(),
                self.in_words()
            ));
        }
        if !carries_content(url) {
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
    !query.is_empty() || path.len() > MAX_PATH
}

/// The domain whose name servers learn more than which server is meant, if the host has room for that.
fn domain_told(url: &CheckedUrl) -> Option<String> {
    if url.address().is_some() {
        return None;
    }
    let labels: Vec<_> = url.host().trim_end_matches('.').split('.').collect();
    let of_registry = |at: usize, list: &str| labels.get(at).is_some_and(|label| has(list, label));
    let is_country = labels.last().is_some_and(|last| last.len() == 2);
    let own = labels.len().checked_sub(2)?;
    let own =
        if is_country && of_registry(own, REGISTRY_LABELS) { own.saturating_sub(1) } else { own };
    let (servers, domain) = labels.split_at_checked(own)?;
    let is_code = |label: &str| label.len() == 2 && label.chars().all(|c| c.is_ascii_lowercase());
    let is_usual = |label: &&str| is_code(label) || has(SERVER_LABELS, label);
    let usual = servers.len() <= MAX_SERVER_LABELS && servers.iter().all(is_usual);
    (!usual).then(|| domain.join("."))
}

fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|one| one == word)
}

#[cfg(test)]
mod tests {
    use super::Untrusted;
    use crate::url::{UrlRules, check};

    #[test]
    fn what_goes_out_after_untrusted_content_is_noticed() {
        let sources = |count: usize| (0..count).map(|n| format!("https://{n}.example/"));
        let long = "x".repeat(65);
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
            let untrusted = Untrusted { sources: &sources, followed: &followed, hosts: &[] };
            let network = config::parse("[tools.web.network]\nallow = ['*:8443', '*']", "t.toml");
            let rules = UrlRules::new(&network.unwrap().tools.web.network);
            let told = untrusted.tells(&check(url, &rules).unwrap());
            assert_eq!(told.unwrap_or_default(), expected, "{url}");
        }
    }

    /// Also names that are looked up are read by others.
    #[test]
    fn host_names_that_carry_data_are_noticed() {
        let sources = ["https://news.example/".to_owned()];
        let hosts = ["k7f3.told.example".to_owned()];
        let untrusted = Untrusted { sources: &sources, followed: &[], hosts: &hosts };
        let told = |host: &str| {
            let url = check(&format!("https://{host}/"), &UrlRules::default()).unwrap();
            untrusted.tells(&url)
        };
        for host in [
            "example.org",
            "www.example.org",
            "api.github.com",
            "docs.python.org",
            "doc.rust-lang.org",
            "raw.githubusercontent.com",
            "registry.example.com",
            "files.example.com",
            "static.example.io",
            "en.wikipedia.org",
            "en.mobile.wikipedia.org",
            "developer.mozilla.org",
            "bbc.co.uk",
            "www.bbc.co.uk",
            "www.gov.uk",
            "storage.googleapis.com",
            "k7f3.told.example",
            "93.184.216.34",
        ] {
            assert_eq!(told(host), None, "{host}");
        }
        for host in [
            "k7f3-9d2c-api-key-value.example.org",
            "hunter2.example.org",
            "secret.example.co.uk",
            "s3cr3t.www.example.org",
            "www.s3cr3t.example.org",
            "aa.bb.cc.dd.example.org",
            "other.told.example",
            "xn--80ak6aa92e.example.org",
        ] {
            assert!(told(host).is_some_and(|reason| reason.contains("name servers")), "{host}");
        }
        let reason = told("hunter2.example.org").unwrap();
        assert!(
            reason.starts_with(
                "it tells the name servers of `example.org` the name `hunter2.example.org`, which the \
                 session has not been told; this session has read untrusted content from"
            ),
            "{reason}"
        );
    }
}
