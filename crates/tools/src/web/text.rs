//! The bytes of an answer as text.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, WINDOWS_1252};

/// The text of `body`, or `None` if it is none. `kind` is its `content-type`.
pub(crate) fn decode<'a>(body: &'a [u8], kind: Option<&str>) -> Option<Cow<'a, str>> {
    let kind = kind.unwrap_or_default().to_ascii_lowercase();
    let marked = Encoding::for_bom(body).map(|(encoding, _)| encoding);
    let encoding = marked.or_else(|| charset(&kind)).or_else(|| guess(body, &kind))?;
    if encoding.is_ascii_compatible() && body.contains(&0) {
        return None;
    }
    Some(encoding.decode(body).0)
}

fn charset(kind: &str) -> Option<&'static Encoding> {
    let (_, after) = kind.split_once("charset=")?;
    let label = after.split(';').next()?.trim().trim_matches('"');
    Encoding::for_label(label.as_bytes())
}

/// UTF-8 unless it is not; what calls itself text is then taken for the usual encoding of the web.
fn guess(body: &[u8], kind: &str) -> Option<&'static Encoding> {
    let is_utf8 = match std::str::from_utf8(body) {
        Ok(_) => true,
        // A character that was cut in the middle at the end.
        Err(error) => error.error_len().is_none(),
    };
    if is_utf8 {
        return Some(UTF_8);
    }
    kind.starts_with("text/").then_some(WINDOWS_1252)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_what_the_server_or_the_content_says() {
        for (body, kind, expected) in [
            ("grün".as_bytes(), None, Some("grün")),
            (b"gr\xfcn", Some("text/html; charset=ISO-8859-1"), Some("grün")),
            (b"gr\xfcn", Some("text/plain"), Some("grün")),
            (b"gr\xfcn", Some("application/octet-stream"), None),
            (b"\xff\xfea\0", Some("text/plain"), Some("a")),
            (b"a\0b", Some("text/plain"), None),
            (b"\x89PNG\r\n\x1a\n\0", Some("image/png"), None),
            (b"gr\xc3", Some("application/json"), Some("gr\u{fffd}")),
            (b"+ADw-script", Some("text/html; charset=utf-7"), Some("+ADw-script")),
            (b"", Some("image/png"), Some("")),
        ] {
            assert_eq!(decode(body, kind).as_deref(), expected, "{body:?} {kind:?}");
        }
    }
}
