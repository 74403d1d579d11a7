//! A stream of text, let through as far as no secret can begin in it and end later.

use crate::{pem, redactor::Redactor};

/// What has not been let through yet.
#[derive(Debug, Default)]
pub(crate) struct Held(String);

impl Held {
    /// Adds text; gives what can be let through.
    pub(crate) fn push(&mut self, text: &str, redactor: &Redactor) -> String {
        self.0.push_str(text);
        let cut = self.cut(redactor);
        let rest = self.0.split_off(cut);
        redactor.text(&std::mem::replace(&mut self.0, rest)).into_owned()
    }

    /// Gives the rest.
    pub(crate) fn take_all(&mut self, redactor: &Redactor) -> String {
        redactor.text(&std::mem::take(&mut self.0)).into_owned()
    }

    /// How much is safe: not the last two words, which may be `Bearer` and the beginning of a token,
    /// not as much as the longest named secret, not an open private key, and not half of anything
    /// that is found already.
    fn cut(&self, redactor: &Redactor) -> usize {
        let text = self.0.as_str();
        let named = text.len().saturating_sub(redactor.longest_named());
        let open = pem::open_at(text);
        let safe = last_two_words(text).min(named).min(open.unwrap_or(text.len()));
        // A stream without white space is not held for ever.
        let least = text.len().saturating_sub(redactor.hold_back());
        redactor.before_secret(text, text.floor_char_boundary(safe.max(least)))
    }
}

/// Where the last two words begin.
fn last_two_words(text: &str) -> usize {
    let mut words = text.split_whitespace().rev();
    let (last, second) = (words.next(), words.next());
    let start = second.or(last).map_or(text.as_ptr(), str::as_ptr);
    start.addr().saturating_sub(text.as_ptr().addr())
}

#[cfg(test)]
mod tests {
    use super::Held;
    use crate::redactor::Redactor;

    #[test]
    fn a_secret_cut_anywhere_does_not_get_through() {
        let redactor = Redactor::new(b"k", [("db".to_owned(), "correct horse battery".to_owned())]);
        let key = "-----BEGIN PRIVATE KEY-----\nMIIE\nvQIB\n-----END PRIVATE KEY-----";
        let text = format!("a Bearer abcdefghijklmnopqrst b correct horse battery c {key} d\n");
        for size in 1..text.len() {
            let (mut held, mut out) = (Held::default(), String::new());
            for chunk in text.as_bytes().chunks(size) {
                out += &held.push(std::str::from_utf8(chunk).unwrap(), &redactor);
            }
            out += &held.take_all(&redactor);
            assert_eq!(out, redactor.text(&text), "chunks of {size}");
            assert!(!out.contains("MIIE") && !out.contains("horse") && !out.contains("ghij"));
        }
    }

    #[test]
    fn ordinary_text_flows() {
        let redactor = Redactor::new(b"k", []);
        let mut held = Held::default();
        assert_eq!(held.push("one two three four ", &redactor), "one two ");
        assert_eq!(held.take_all(&redactor), "three four ");
    }
}
