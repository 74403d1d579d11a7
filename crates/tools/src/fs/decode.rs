//! Bytes as text, piece by piece.

use std::io::{self, Read};

use encoding_rs::{DecoderResult, Encoding};
use tool::nearest;

use super::page::Page;

/// Why there is no text.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// This line has bytes the encoding does not have, or NUL.
    Line(u64),
    /// The file cannot be read.
    Io(io::Error),
}

/// The encoding that goes by `label`.
pub(crate) fn encoding(label: &str) -> Result<&'static Encoding, String> {
    Encoding::for_label(label.as_bytes()).ok_or_else(|| match nearest(label, LABELS) {
        Some(near) => format!("unknown encoding `{label}`; did you mean `{near}`?"),
        None => format!(
            "unknown encoding `{label}`; use `utf-8`, `utf-16le`, `utf-16be`, `windows-1252`, \
             `shift_jis`, `gbk` or another one of the WHATWG encoding standard"
        ),
    })
}

/// Whether a file that begins with `head` is no text in `encoding`.
pub(crate) fn is_binary(head: &[u8], encoding: &'static Encoding) -> bool {
    let named = Encoding::for_bom(head).map(|(named, _)| named);
    let encoding = named.unwrap_or(encoding);
    if encoding.is_ascii_compatible() {
        return head.contains(&0);
    }
    // ASCII read as something else would come out as other characters that hide what it says.
    named.is_none() && !head.is_empty() && !head.contains(&0)
}

/// Decodes `source` into `page`. What the page does not show may be wrong. A byte order mark says
/// more than `encoding`.
pub(crate) fn decode(
    mut source: impl Read,
    encoding: &'static Encoding,
    page: &mut Page,
) -> Result<(), Unreadable> {
    const SIZE: usize = 64 * 1024;
    let mut decoder = encoding.new_decoder();
    let mut buffer = vec![0; SIZE];
    let mut text = String::with_capacity(4 * SIZE);
    loop {
        let count = source.read(&mut buffer).map_err(Unreadable::Io)?;
        let mut rest = buffer.get(..count).unwrap_or_default();
        loop {
            let (result, used) =
                decoder.decode_to_string_without_replacement(rest, &mut text, count == 0);
            page.push(&text);
            page.nul_line().map_or(Ok(()), |line| Err(Unreadable::Line(line)))?;
            text.clear();
            rest = rest.get(used..).unwrap_or_default();
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(..) => {
                    page.wanted_line().map_or(Ok(()), |line| Err(Unreadable::Line(line)))?;
                }
            }
        }
        if count == 0 {
            return Ok(());
        }
    }
}

/// One label for each encoding, for messages.
const LABELS: [&str; 39] = [
    "utf-8",
    "utf-16le",
    "utf-16be",
    "windows-1252",
    "iso-8859-1",
    "iso-8859-2",
    "iso-8859-3",
    "iso-8859-4",
    "iso-8859-5",
    "iso-8859-6",
    "iso-8859-7",
    "iso-8859-8",
    "iso-8859-10",
    "iso-8859-13",
    "iso-8859-14",
    "iso-8859-15",
    "iso-8859-16",
    "windows-1250",
    "windows-1251",
    "windows-1253",
    "windows-1254",
    "windows-1255",
    "windows-1256",
    "windows-1257",
    "windows-1258",
    "windows-874",
    "macintosh",
    "x-mac-cyrillic",
    "ibm866",
    "koi8-r",
    "koi8-u",
    "gbk",
    "gb18030",
    "big5",
    "euc-jp",
    "iso-2022-jp",
    "shift_jis",
    "euc-kr",
    "latin1",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct NoSecrets;

    impl tool::Redact for NoSecrets {
        fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> {
            text.into()
        }
    }

    fn text(bytes: &[u8], label: &str, first: u64, limit: u64) -> Result<String, String> {
        let mut page = Page::new(first, limit, 1000);
        match decode(bytes, encoding(label).unwrap(), &mut page) {
            Ok(()) => page.finish(&NoSecrets).map_err(|error| error.message),
            Err(Unreadable::Line(line)) => Err(format!("line {line}")),
            Err(Unreadable::Io(error)) => Err(error.to_string()),
        }
    }

    #[test]
    fn every_label_exists() {
        assert!(LABELS.iter().all(|label| encoding(label).is_ok()));
        let error = encoding("utf8-le").unwrap_err();
        assert!(error.starts_with("unknown encoding `utf8-le`; did you mean `utf-"), "{error}");
        assert!(encoding("???").unwrap_err().contains("`windows-1252`"));
    }

    #[test]
    fn decodes_what_the_label_or_the_mark_says() {
        for (bytes, label, expected) in [
            ("grün\n".as_bytes(), "utf-8", Ok("grün\n")),
            (b"gr\xfcn\n", "latin1", Ok("grün\n")),
            (b"gr\xfcn\n", "utf-8", Err("line 1")),
            (b"a\nb\nc\xff\n", "utf-8", Err("line 3")),
            (b"a\0b", "utf-8", Err("line 1")),
            (b"\xef\xbb\xbfa\n", "latin1", Ok("a\n")),
            (b"\xff\xfea\0\n\0", "utf-8", Ok("a\n")),
            (b"a\0\n\0", "utf-16le", Ok("a\n")),
            (b"\x83e\x83X\x83g", "shift_jis", Ok("テスト")),
            // A character cut in the middle at the end of the file.
            (b"a\xc3", "utf-8", Err("line 1")),
        ] {
            let expected = expected.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(text(bytes, label, 1, 100), expected, "{bytes:?} {label}");
        }
    }

    #[test]
    fn what_is_not_shown_may_be_wrong() {
        let bytes = b"\xff\nfine\n\0\xff\n";
        assert_eq!(
            text(bytes, "utf-8", 2, 1).unwrap(),
            "fine\n[lines 2-2 of 3; continue with offset 3]"
        );
    }
}
