//! Private keys as they stand in text.

use std::ops::Range;

const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const KIND: &str = "PRIVATE KEY-----";

/// A label such as `RSA ` before the kind.
const MAX_LABEL: usize = 40;

/// Where private keys stand, in order; one without an end goes on as far as its text looks like one.
pub(crate) fn spans(text: &str) -> Vec<Range<usize>> {
    let (mut spans, mut from) = (Vec::new(), 0);
    while let Some(start) = text.get(from..).and_then(|rest| rest.find(BEGIN)).map(|at| from + at) {
        let Some(body) = label_end(text, start + BEGIN.len()) else {
            from = start + BEGIN.len();
            continue;
        };
        from = end(text, body);
        spans.push(start..from);
    }
    spans
}

/// Where the last key begins, if its end has not come yet.
pub(crate) fn open_at(text: &str) -> Option<usize> {
    let start = text.rfind(BEGIN)?;
    let rest = text.get(start..)?;
    let closed = rest.split_once(END).is_some_and(|(_, after)| after.contains(KIND));
    (!closed).then_some(start)
}

/// The end of `RSA PRIVATE KEY-----` at `from`, if that is what stands there.
fn label_end(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let head = rest.get(..rest.floor_char_boundary(MAX_LABEL + KIND.len()))?;
    let at = head.find(KIND)?;
    let label = head.get(..at)?;
    label.chars().all(|c| c.is_ascii_alphanumeric() || c == ' ').then_some(from + at + KIND.len())
}

/// Each byte is looked at once: what a key is made of ends at the first other character.
fn end(text: &str, from: usize) -> usize {
    let Some(rest) = text.get(from..) else { return text.len() };
    let is_body =
        |c: char| c.is_ascii_alphanumeric() || c.is_ascii_whitespace() || "+/=\\:,".contains(c);
    let body = from + rest.find(|c| !is_body(c)).unwrap_or(rest.len());
    let footer = text.get(body..).filter(|rest| rest.starts_with(END));
    footer.and_then(|_| label_end(text, body + END.len())).unwrap_or(body)
}

#[cfg(test)]
mod tests {
    use super::spans;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "one key, one range")]
    fn finds_keys_and_nothing_else() {
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----";
        for (text, expected) in [
            (format!("a {key} b"), vec![2..2 + key.len()]),
            (format!("{key}{key}"), vec![0..key.len(), key.len()..2 * key.len()]),
            ("-----BEGIN CERTIFICATE-----\nMIIE".to_owned(), vec![]),
            ("-----BEGIN PRIVATE KEY-----\nMIIE".to_owned(), vec![0..32]),
            ("-----BEGIN PRIVATE KEY-----\nMII! rest".to_owned(), vec![0..31]),
            ("-----BEGIN ".repeat(3), vec![]),
        ] {
            assert_eq!(spans(&text), expected, "{text}");
        }
    }
}
