//! What a command wrote, as text.

use tool::{Captured, Redact, Stream};

use super::part::{MARGIN, ceil, floor, lossy, whole, within};

/// What a command wrote.
#[derive(Debug)]
pub(crate) struct Output {
    /// Both outputs, in the order they came.
    pub(crate) all: String,
    /// Each of them, where they were kept apart.
    pub(crate) apart: Option<Apart>,
    /// How many bytes of it are missing.
    pub(crate) left_out: u64,
}

/// The two outputs.
#[derive(Debug)]
pub(crate) struct Apart {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    /// There may be megabytes of it, so nothing is kept longer than it is needed.
    pub(crate) fn new(captured: Captured, redact: &dyn Redact) -> Self {
        let left_out = captured.left_out;
        let pieces = || captured.head.iter().chain(&captured.tail);
        let wrote = |stream| pieces().any(|(from, _)| *from == stream);
        let (out, err) = (wrote(Stream::Stdout), wrote(Stream::Stderr));
        let each = (out && err).then(|| {
            let one = |stream| cut(of(&captured, stream), redact).into_text(ROUGHLY);
            Apart { stdout: one(Stream::Stdout), stderr: one(Stream::Stderr) }
        });
        let both = cut(captured, redact);
        // Most write to one of them only.
        let apart = each.unwrap_or_else(|| {
            let text = |wrote| if wrote { both.text(ROUGHLY) } else { String::new() };
            Apart { stdout: text(out), stderr: text(err) }
        });
        let left_out = both.missing.unwrap_or(left_out);
        Self { all: both.into_text(""), apart: Some(apart), left_out }
    }

    /// What a process wrote, from byte `left_out` on.
    pub(crate) fn tail(text: String, left_out: u64) -> Self {
        let all = if left_out == 0 { text } else { gap(left_out, "") + &text };
        Self { all, apart: None, left_out }
    }
}

/// Of which output the missing bytes are, nobody counted.
const ROUGHLY: &str = "up to ";

/// The beginning and the end of an output, as text.
struct Cut {
    head: String,
    /// How much is missing between them; `None` if nothing of it is to be told.
    missing: Option<u64>,
    tail: String,
}

/// What one of the two outputs was.
fn of(captured: &Captured, stream: Stream) -> Captured {
    let of = |pieces: &[(Stream, Vec<u8>)]| {
        pieces.iter().filter(|(from, _)| *from == stream).cloned().collect()
    };
    let Captured { head, left_out, tail } = captured;
    Captured { head: of(head), left_out: *left_out, tail: of(tail) }
}

/// The two ends.
fn cut(captured: Captured, redact: &dyn Redact) -> Cut {
    let Captured { head, left_out, tail } = captured;
    let (mut head, tail) = (bytes(head), bytes(tail));
    if left_out == 0 || head.is_empty() && tail.is_empty() {
        head.extend(tail);
        return Cut { head: lossy(&head), missing: None, tail: String::new() };
    }
    // What is beside the gap may be half a secret, which nobody would recognise.
    let margin = |bytes: &[u8]| MARGIN.min(bytes.len() / 8);
    let end = floor(&head, whole(&head).saturating_sub(margin(&head)));
    let start = ceil(&tail, margin(&tail));
    let (kept, after) = head.split_at(end);
    let (before, rest) = tail.split_at(start);
    let missing = left_out + (after.len() + before.len()) as u64;
    Cut {
        head: within("", &lossy(kept), &lossy(after), redact),
        missing: Some(missing),
        tail: within(&lossy(before), &lossy(rest), "", redact),
    }
}

impl Cut {
    /// The same as [`Cut::text`], when nothing else is to be made of it.
    fn into_text(self, roughly: &str) -> String {
        let Self { mut head, missing, tail } = self;
        let Some(missing) = missing else { return head };
        if !head.is_empty() && !head.ends_with('\n') {
            head.push('\n');
        }
        head.push_str(&gap(missing, roughly));
        head.push_str(&tail);
        head
    }

    /// Both ends, with a mark between them if something is missing there.
    fn text(&self, roughly: &str) -> String {
        let Self { head, missing, tail } = self;
        let Some(missing) = missing else { return head.clone() };
        let line_end = if head.is_empty() || head.ends_with('\n') { "" } else { "\n" };
        [head, line_end, &gap(*missing, roughly), tail].concat()
    }
}

fn gap(bytes: u64, roughly: &str) -> String {
    format!("[… {roughly}{bytes} bytes left out …]\n")
}

/// The pieces put together, each let go as soon as it was copied.
fn bytes(pieces: Vec<(Stream, Vec<u8>)>) -> Vec<u8> {
    let mut all = Vec::with_capacity(pieces.iter().map(|(_, piece)| piece.len()).sum());
    for (_, piece) in pieces {
        all.extend_from_slice(&piece);
    }
    all
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[derive(Debug)]
    struct Secret;

    impl Redact for Secret {
        fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
            text.replace("hunter2", "⟦x⟧").into()
        }
    }

    fn shown(head: &[(Stream, &[u8])], left_out: u64, tail: &[(Stream, &[u8])]) -> [String; 3] {
        let owned = |pieces: &[(Stream, &[u8])]| -> Vec<_> {
            pieces.iter().map(|(stream, bytes)| (*stream, bytes.to_vec())).collect()
        };
        let captured = Captured { head: owned(head), left_out, tail: owned(tail) };
        let Output { all, apart, left_out: _ } = Output::new(captured, &Secret);
        let Apart { stdout, stderr } = apart.unwrap();
        [all, stdout, stderr]
    }

    #[test]
    fn both_outputs_are_there_together_and_apart() {
        let out = |text: &'static [u8]| (Stream::Stdout, text);
        let err = |text: &'static [u8]| (Stream::Stderr, text);
        for (head, left_out, tail, expected) in [
            (vec![], 0, vec![], ["", "", ""]),
            (
                vec![out(b"a\n"), err(b"b\n"), out(b"c\n")],
                0,
                vec![],
                ["a\nb\nc\n", "a\nc\n", "b\n"],
            ),
            (vec![out(b"gr\xc3")], 0, vec![out(b"\xbcn")], ["grün", "grün", ""]),
            (vec![out(b"\xff\0")], 0, vec![], ["\u{fffd}\0", "\u{fffd}\0", ""]),
            (
                vec![out(b"a\xc3")],
                5,
                vec![out(b"\xbcb")],
                ["a\n[… 7 bytes left out …]\nb", "a\n[… up to 7 bytes left out …]\nb", ""],
            ),
        ] {
            assert_eq!(shown(&head, left_out, &tail), expected, "{head:?}");
        }
    }

    #[test]
    fn half_a_secret_beside_the_gap_is_left_out() {
        let head = format!("{} hun", "x".repeat(100));
        let tail = format!("ter2 {}", "y".repeat(100));
        let [all, ..] =
            shown(&[(Stream::Stdout, head.as_bytes())], 9, &[(Stream::Stderr, tail.as_bytes())]);
        let expected = format!("{}\n[… 35 bytes left out …]\n{}", "x".repeat(91), "y".repeat(92));
        assert_eq!(all, expected);
    }
}
