//! How people name calls.

use std::{fmt, str::FromStr};

use anyhow::{Result, bail};
use toolgate::CallId;

/// Shorter parts of an id fit too many calls to be meant.
const MIN_PART: usize = 4;

/// A call, as a person names it: by its id, by the beginning or end of that, or as the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CallName {
    /// The whole id.
    Id(CallId),
    /// Its beginning or end.
    Part(String),
    /// The newest one there is.
    Last,
}

impl FromStr for CallName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim().to_lowercase();
        if text == "last" {
            return Ok(Self::Last);
        }
        let is_part = text.len() >= MIN_PART
            && text.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
            && text.len() < 36;
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) if is_part => Ok(Self::Part(text)),
            Err(problem) => Err(problem),
        }
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => id.fmt(f),
            Self::Part(part) => part.fmt(f),
            Self::Last => "last".fmt(f),
        }
    }
}

impl CallName {
    /// The call that is meant among `calls`, which come newest first. Fails if a part fits several.
    pub(crate) fn pick(&self, calls: impl IntoIterator<Item = CallId>) -> Result<Option<CallId>> {
        let mut calls = calls.into_iter();
        let part = match self {
            Self::Last => return Ok(calls.next()),
            Self::Id(id) => return Ok(calls.find(|call| call == id)),
            Self::Part(part) => part.as_str(),
        };
        let fits = |call: &CallId| {
            let id = call.to_string();
            id.starts_with(part) || id.ends_with(part)
        };
        let fitting: Vec<_> = calls.filter(fits).collect();
        match fitting.as_slice() {
            [] => Ok(None),
            [call] => Ok(Some(*call)),
            several => {
                let some: Vec<_> = several.iter().take(5).map(ToString::to_string).collect();
                let more = if several.len() > some.len() { ", …" } else { "" };
                bail!("`{part}` fits {} calls: {}{more}", several.len(), some.join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls() -> Vec<CallId> {
        ["019a2b6e-0000-7000-8000-00000000abcd", "019a2b6e-0000-7000-8000-00000000abce"]
            .map(|id| id.parse().unwrap())
            .to_vec()
    }

    #[test]
    fn a_part_names_a_call_if_it_fits_no_other() {
        let pick = |text: &str| text.parse::<CallName>().unwrap().pick(calls());
        let [first, second] = [calls()[0], calls()[1]];
        assert_eq!(pick("abcd").unwrap(), Some(first));
        assert_eq!(pick("ABCE").unwrap(), Some(second));
        assert_eq!(pick("last").unwrap(), Some(first));
        assert_eq!(pick(&second.to_string()).unwrap(), Some(second));
        assert_eq!(pick("ffff").unwrap(), None);
        let several = pick("019a2b6e").unwrap_err().to_string();
        assert!(several.contains("fits 2 calls"), "{several}");
    }

    #[test]
    fn what_is_no_part_of_an_id_is_refused() {
        for text in ["x", "", "abc", "latest", "019a2b6e-0000-7000-8000-00000000abcdef"] {
            let problem = text.parse::<CallName>().unwrap_err();
            assert!(problem.contains("is not a call id"), "{problem}");
        }
    }
}
