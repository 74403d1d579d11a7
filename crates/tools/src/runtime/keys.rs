//! Keys by the names tmux gives them, and the bytes a terminal sends for them.

use tool::nearest;

const SHIFT: u8 = 1;
const ALT: u8 = 2;
const CONTROL: u8 = 4;

/// What a terminal sends for a key.
#[derive(Debug, Clone, Copy)]
enum Base {
    /// A character, as it is.
    Typed(char),
    /// `ESC [` and this letter.
    Moves(char),
    /// `ESC O` and this letter.
    Function(char),
    /// `ESC [`, this number and `~`.
    Numbered(u8),
}

use Base::{Function, Moves, Numbered, Typed};

const NAMED: &[(&str, Base)] = &[
    ("Enter", Typed('\r')),
    ("Return", Typed('\r')),
    ("Tab", Typed('\t')),
    ("BTab", Moves('Z')),
    ("Escape", Typed('\x1b')),
    ("Esc", Typed('\x1b')),
    ("Space", Typed(' ')),
    ("BSpace", Typed('\x7f')),
    ("Backspace", Typed('\x7f')),
    ("Up", Moves('A')),
    ("Down", Moves('B')),
    ("Right", Moves('C')),
    ("Left", Moves('D')),
    ("Home", Moves('H')),
    ("End", Moves('F')),
    ("IC", Numbered(2)),
    ("Insert", Numbered(2)),
    ("DC", Numbered(3)),
    ("Delete", Numbered(3)),
    ("PPage", Numbered(5)),
    ("PageUp", Numbered(5)),
    ("PgUp", Numbered(5)),
    ("NPage", Numbered(6)),
    ("PageDown", Numbered(6)),
    ("PgDn", Numbered(6)),
    ("F1", Function('P')),
    ("F2", Function('Q')),
    ("F3", Function('R')),
    ("F4", Function('S')),
    ("F5", Numbered(15)),
    ("F6", Numbered(17)),
    ("F7", Numbered(18)),
    ("F8", Numbered(19)),
    ("F9", Numbered(20)),
    ("F10", Numbered(21)),
    ("F11", Numbered(23)),
    ("F12", Numbered(24)),
];

const PREFIXES: &[(&str, u8)] = &[
    ("C-", CONTROL),
    ("M-", ALT),
    ("S-", SHIFT),
    ("Ctrl-", CONTROL),
    ("Ctrl+", CONTROL),
    ("Alt-", ALT),
    ("Alt+", ALT),
    ("Shift-", SHIFT),
    ("Shift+", SHIFT),
    ("^", CONTROL),
];

/// The bytes for a key such as `Enter`, `C-c`, `M-x`, `S-Up`, `F5` or `a`.
pub(crate) fn encode(name: &str) -> Result<Vec<u8>, String> {
    let (modifiers, rest) = split(name);
    let base = base(rest).ok_or_else(|| unknown(name, rest))?;
    bytes(base, modifiers).ok_or_else(|| format!("`{name}` is not a key that terminals can send"))
}

/// The modifiers in front, and what is behind them.
fn split(name: &str) -> (u8, &str) {
    let (mut modifiers, mut rest) = (0, name);
    // A single character is itself, also where a prefix looks like that.
    while rest.chars().nth(1).is_some() {
        let found = PREFIXES.iter().find_map(|(prefix, modifier)| {
            let (start, after) = rest.split_at_checked(prefix.len())?;
            (start.eq_ignore_ascii_case(prefix) && !after.is_empty()).then_some((modifier, after))
        });
        let Some((modifier, after)) = found else { break };
        (modifiers, rest) = (modifiers | modifier, after);
    }
    (modifiers, rest)
}

fn base(name: &str) -> Option<Base> {
    let mut characters = name.chars();
    if let (Some(only), None) = (characters.next(), characters.next()) {
        return Some(Typed(only));
    }
    NAMED.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, base)| *base)
}

fn bytes(base: Base, modifiers: u8) -> Option<Vec<u8>> {
    let sequence = match (base, modifiers) {
        (Typed('\t'), SHIFT) => "\x1b[Z".to_owned(),
        (Typed(character), _) => {
            let character = modified(character, modifiers)?;
            let alt = if modifiers & ALT == 0 { "" } else { "\x1b" };
            format!("{alt}{character}")
        }
        (Moves(letter), 0) => format!("\x1b[{letter}"),
        (Function(letter), 0) => format!("\x1bO{letter}"),
        (Moves(letter) | Function(letter), _) => format!("\x1b[1;{}{letter}", 1 + modifiers),
        (Numbered(number), 0) => format!("\x1b[{number}~"),
        (Numbered(number), _) => format!("\x1b[{number};{}~", 1 + modifiers),
    };
    Some(sequence.into_bytes())
}

/// The character that shift and control make of `typed`, if there is one.
fn modified(typed: char, modifiers: u8) -> Option<char> {
    match (modifiers & CONTROL != 0, modifiers & SHIFT != 0) {
        (false, false) => Some(typed),
        (false, true) => typed.is_ascii_alphabetic().then(|| typed.to_ascii_uppercase()),
        (true, true) => None,
        (true, false) => match typed {
            ' ' => Some('\0'),
            '?' => Some('\x7f'),
            '/' => Some('\x1f'),
            '@'..='_' | 'a'..='z' => u32::from(typed).checked_rem(32).and_then(char::from_u32),
            _ => None,
        },
    }
}

fn unknown(name: &str, rest: &str) -> String {
    let hint = nearest(rest, NAMED.iter().map(|(name, _)| *name)).map_or_else(
        || "use names such as `Enter`, `Tab`, `Escape`, `Up`, `F1`, `C-c`, `M-x`".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    format!("unknown key `{name}`; {hint} (text is typed with `literal`)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_what_a_terminal_sends() {
        for (name, expected) in [
            ("a", "a"),
            ("ä", "ä"),
            ("^", "^"),
            ("-", "-"),
            ("C", "C"),
            ("Enter", "\r"),
            ("enter", "\r"),
            ("Space", " "),
            ("Tab", "\t"),
            ("S-Tab", "\x1b[Z"),
            ("BTab", "\x1b[Z"),
            ("Escape", "\x1b"),
            ("BSpace", "\x7f"),
            ("C-c", "\x03"),
            ("C-C", "\x03"),
            ("^C", "\x03"),
            ("Ctrl+c", "\x03"),
            ("C-d", "\x04"),
            ("C-[", "\x1b"),
            ("C-\\", "\x1c"),
            ("C-_", "\x1f"),
            ("C-@", "\0"),
            ("C-Space", "\0"),
            ("C-?", "\x7f"),
            ("M-x", "\x1bx"),
            ("M-Enter", "\x1b\r"),
            ("C-M-a", "\x1b\x01"),
            ("M--", "\x1b-"),
            ("S-a", "A"),
            ("Up", "\x1b[A"),
            ("C-Right", "\x1b[1;5C"),
            ("S-M-Home", "\x1b[1;4H"),
            ("Delete", "\x1b[3~"),
            ("C-PgDn", "\x1b[6;5~"),
            ("F1", "\x1bOP"),
            ("S-F1", "\x1b[1;2P"),
            ("F12", "\x1b[24~"),
        ] {
            let bytes = encode(name).unwrap();
            assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn what_is_no_key_is_named() {
        for (name, expected) in [
            ("Entr", "unknown key `Entr`; did you mean `Enter`? (text is typed with `literal`)"),
            ("C-Dwn", "unknown key `C-Dwn`; did you mean `Down`? (text is typed with `literal`)"),
            ("C-ä", "`C-ä` is not a key that terminals can send"),
            ("C-Enter", "`C-Enter` is not a key that terminals can send"),
            (
                "",
                "unknown key ``; use names such as `Enter`, `Tab`, `Escape`, `Up`, `F1`, `C-c`, \
                 `M-x` (text is typed with `literal`)",
            ),
        ] {
            assert_eq!(encode(name).unwrap_err(), expected);
        }
    }
}
