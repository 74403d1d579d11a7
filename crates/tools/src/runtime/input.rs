//! What is sent to a process.

use tool::Terminal;

use super::keys;

/// Around text that is pasted: programs that know them take no key in between for a command.
const PASTE: (&str, &str) = ("\x1b[200~", "\x1b[201~");

/// What is sent to a process.
#[derive(Debug)]
pub(crate) enum Input {
    /// Data as it is, and whether more may follow.
    Data { data: String, eof: bool },
    /// What is typed: text, then bytes, then keys.
    Keys { literal: String, hex: Vec<u8>, keys: Vec<Key> },
    /// Text and Enter.
    Line(String),
    /// Text that is pasted; left open, in brackets if there is a terminal.
    Paste { text: String, bracketed: Option<bool> },
}

/// A key that is typed.
#[derive(Debug)]
pub(crate) struct Key {
    name: String,
    bytes: Vec<u8>,
}

impl Key {
    pub(crate) fn new(name: &str) -> Result<Self, String> {
        Ok(Self { name: name.to_owned(), bytes: keys::encode(name)? })
    }
}

impl Input {
    /// The bytes a process with or without a terminal gets.
    pub(crate) fn bytes(&self, terminal: Terminal) -> Vec<u8> {
        let enter: &[u8] = match terminal {
            Terminal::Yes => b"\r",
            // No terminal makes a line feed of it.
            Terminal::No => b"\n",
        };
        match self {
            Self::Data { data, eof: _ } => data.clone().into_bytes(),
            Self::Keys { literal, hex, keys } => {
                let typed = keys.iter().map(|key| match key.bytes.as_slice() {
                    b"\r" => enter,
                    bytes => bytes,
                });
                let parts = [literal.as_bytes(), hex].into_iter().chain(typed);
                parts.collect::<Vec<_>>().concat()
            }
            Self::Line(text) => [text.as_bytes(), enter].concat(),
            Self::Paste { text, bracketed } => {
                let (start, end) = PASTE;
                if bracketed.unwrap_or(terminal == Terminal::Yes) {
                    return [start, text, end].concat().into_bytes();
                }
                text.clone().into_bytes()
            }
        }
    }

    /// Whether nothing more will follow.
    pub(crate) const fn is_last(&self) -> bool {
        matches!(self, Self::Data { data: _, eof: true })
    }

    /// What it does to process `id`, for a person who decides about it; all of it, made visible.
    pub(crate) fn words(&self, id: &str) -> String {
        match self {
            Self::Data { data, eof: true } if data.is_empty() => {
                format!("end the input of process `{id}`")
            }
            Self::Data { data, eof: true } => {
                format!("write {data:?} to process `{id}` and end its input")
            }
            Self::Data { data, eof: false } => format!("write {data:?} to process `{id}`"),
            Self::Keys { literal, hex, keys } => {
                let text = (!literal.is_empty()).then(|| format!("{literal:?}"));
                let digits: Vec<_> = hex.iter().map(|byte| format!("{byte:02x}")).collect();
                let bytes = (!hex.is_empty()).then(|| format!("the bytes {}", digits.join(" ")));
                let keys = keys.iter().map(|Key { name, bytes: _ }| format!("`{name}`"));
                let typed: Vec<_> = text.into_iter().chain(bytes).chain(keys).collect();
                format!("type {} into process `{id}`", typed.join(", "))
            }
            Self::Line(text) => format!("type {text:?} and Enter into process `{id}`"),
            Self::Paste { text, bracketed: _ } => format!("paste {text:?} into process `{id}`"),
        }
    }
}

/// Refuses text that would end its own brackets: what follows would be typed, not pasted.
pub(crate) fn can_be_pasted(text: &str) -> bool {
    !text.contains(PASTE.1)
}

/// The bytes that `1b`, `0x1b` or `1b5b41` means.
pub(crate) fn hex(text: &str) -> Result<Vec<u8>, String> {
    let wrong = || format!("`{text}` is not a byte in hexadecimal, such as `1b`");
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let nibbles: Option<Vec<u32>> = digits.chars().map(|digit| digit.to_digit(16)).collect();
    let nibbles = nibbles.filter(|list| !list.is_empty()).ok_or_else(wrong)?;
    let (pairs, []) = nibbles.as_chunks::<2>() else { return Err(wrong()) };
    pairs.iter().map(|[high, low]| u8::try_from(high * 16 + low).map_err(|_| wrong())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_other_bytes_than_a_pipe() {
        let key = |name| Key::new(name).unwrap();
        let keys = Input::Keys {
            literal: "yes".into(),
            hex: vec![0x1b],
            keys: vec![key("Tab"), key("Enter")],
        };
        let paste = |bracketed| Input::Paste { text: "a\nb".into(), bracketed };
        for (input, terminal, pipe) in [
            (Input::Data { data: "x\n".into(), eof: true }, "x\n", "x\n"),
            (keys, "yes\x1b\t\r", "yes\x1b\t\n"),
            (Input::Line("make".into()), "make\r", "make\n"),
            (paste(None), "\x1b[200~a\nb\x1b[201~", "a\nb"),
            (paste(Some(false)), "a\nb", "a\nb"),
            (paste(Some(true)), "\x1b[200~a\nb\x1b[201~", "\x1b[200~a\nb\x1b[201~"),
        ] {
            assert_eq!(input.bytes(Terminal::Yes), terminal.as_bytes(), "{input:?}");
            assert_eq!(input.bytes(Terminal::No), pipe.as_bytes(), "{input:?}");
        }
    }

    #[test]
    fn hexadecimal_is_read_or_refused() {
        for (text, expected) in [
            ("1b", Some(vec![0x1b])),
            ("0x0A", Some(vec![10])),
            ("1b5B41", Some(vec![0x1b, 0x5b, 0x41])),
            ("", None),
            ("1", None),
            ("1bx", None),
            ("+1", None),
        ] {
            assert_eq!(hex(text).ok(), expected, "{text}");
        }
    }
}
