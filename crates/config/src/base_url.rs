//! Where a service is.

use std::{fmt, str::FromStr};

/// Where a service is: what its paths begin with, without a slash at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BaseUrl(String);

impl BaseUrl {
    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The error is what should have been there.
impl FromStr for BaseUrl {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let text = text.trim().trim_end_matches('/');
        let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        let rest = rest.ok_or(HOW)?;
        let host = rest.split('/').next().unwrap_or_default();
        if host.contains('@') {
            return Err("a URL without a user name or password; name a secret as `key` instead");
        }
        let odd = |c: char| matches!(c, '?' | '#' | '\\') || c.is_whitespace() || c.is_control();
        if host.is_empty() || host.starts_with(':') || rest.contains(odd) {
            return Err(HOW);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How it is written, to read on after "expected".
pub(crate) const HOW: &str = "a URL such as `https://host/v1` or `http://127.0.0.1:8000`";

#[cfg(test)]
mod tests {
    use super::BaseUrl;

    #[test]
    fn reads_what_paths_can_be_added_to() {
        for (text, expected) in [
            ("https://api.example", Some("https://api.example")),
            ("http://127.0.0.1:8000/", Some("http://127.0.0.1:8000")),
            (" http://[::1]:8000/v1/ ", Some("http://[::1]:8000/v1")),
            ("api.example", None),
            ("ftp://api.example", None),
            ("https://", None),
            ("https://:80/x", None),
            ("https:///v1", None),
            ("https://me:pass@api.example", None),
            ("https://api.example/?key=x", None),
            ("https://api.example/#x", None),
            ("https://api example/", None),
            ("https://api.example/\n", Some("https://api.example")),
            ("https://api.example/\nx", None),
        ] {
            let found = text.parse::<BaseUrl>().ok();
            assert_eq!(found.as_ref().map(BaseUrl::as_str), expected, "{text}");
        }
    }
}
