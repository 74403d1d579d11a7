//! Splits a program of `awk` into tokens, or refuses it where implementations could disagree.

use super::super::super::unknown;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// A line break, which may end a statement.
    Newline,
    /// A word that is no keyword we know.
    Name(String),
    /// A word of the language.
    Keyword(&'static str),
    /// A function of the language that computes something.
    Function(&'static str),
    /// A number or a text.
    Constant,
    /// What stands between the slashes of a regular expression.
    Regex(String),
    /// An operator or a bracket.
    Symbol(&'static str),
}

const KEYWORDS: &[&str] = &[
    "BEGIN", "END", "break", "continue", "delete", "do", "else", "exit", "for", "if", "in", "next",
    "nextfile", "print", "printf", "while",
];

/// Functions that touch nothing outside the program.
const FUNCTIONS: &[&str] = &[
    "and", "asort", "asorti", "atan2", "compl", "cos", "exp", "gensub", "gsub", "index", "int",
    "length", "log", "lshift", "match", "mktime", "or", "patsplit", "rand", "rshift", "sin",
    "split", "sprintf", "sqrt", "srand", "strftime", "strtonum", "sub", "substr", "systime",
    "tolower", "toupper", "xor",
];

/// Words with a meaning that is not harmless or not known to the parser.
const REFUSED: &[&str] = &[
    "ARGC",
    "ARGIND",
    "ARGV",
    "BEGINFILE",
    "ENDFILE",
    "ENVIRON",
    "FUNCTAB",
    "PROCINFO",
    "SYMTAB",
    "case",
    "close",
    "default",
    "eval",
    "fflush",
    "func",
    "function",
    "getline",
    "include",
    "load",
    "namespace",
    "return",
    "switch",
    "system",
];

/// Longer ones first.
const SYMBOLS: &[&str] = &[
    "**=", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "^=", "**", "++",
    "--", "!~", "{", "}", "(", ")", "[", "]", ";", ",", "~", "!", "<", ">", "+", "-", "*", "/",
    "%", "^", "=", "?", ":", "$",
];

/// No program that people type is longer.
const MAX_BYTES: usize = 4096;

/// The tokens of `program`.
pub(super) fn tokens(program: &str) -> Option<Vec<Token>> {
    if program.len() > MAX_BYTES || !unknown::is_known(program) {
        return None;
    }
    let mut tokens: Vec<Token> = Vec::new();
    let mut rest = program;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some(letter) = rest.chars().next() else { return Some(tokens) };
        let (token, after) = match letter {
            '\n' => (Token::Newline, rest.strip_prefix('\n')?),
            '"' => (Token::Constant, text(rest.strip_prefix('"')?)?),
            '/' => slash(rest, tokens.last())?,
            '0'..='9' | '.' => (Token::Constant, number(rest)?),
            'a'..='z' | 'A'..='Z' | '_' => word(rest)?,
            // What is left out starts comments, pipes, calls by name, and lines that go on.
            _ => symbol(rest)?,
        };
        tokens.push(token);
        rest = after;
    }
}

/// Division behind an operand, a regular expression where an operand is expected. Where that depends
/// on the implementation, neither.
fn slash<'a>(rest: &'a str, before: Option<&Token>) -> Option<(Token, &'a str)> {
    let divides = match before {
        None | Some(Token::Newline) => false,
        Some(Token::Constant | Token::Name(_)) => true,
        Some(Token::Keyword(word)) => match *word {
            "print" | "do" | "else" => false,
            _ => return None,
        },
        Some(Token::Function(_) | Token::Regex(_)) => return None,
        Some(Token::Symbol(symbol)) => match *symbol {
            ")" | "]" => true,
            "++" | "--" | "$" => return None,
            _ => false,
        },
    };
    if divides { symbol(rest) } else { regex(rest.strip_prefix('/')?) }
}

fn symbol(rest: &str) -> Option<(Token, &str)> {
    // Appends to a file.
    if rest.starts_with(">>") {
        return None;
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol))?;
    Some((Token::Symbol(symbol), rest.strip_prefix(symbol)?))
}

fn word(rest: &str) -> Option<(Token, &str)> {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (word, after) = rest.split_at_checked(end)?;
    let known = |list: &[&'static str]| list.iter().find(|known| **known == word).copied();
    if known(REFUSED).is_some() {
        return None;
    }
    let token = match (known(KEYWORDS), known(FUNCTIONS)) {
        (Some(keyword), _) => Token::Keyword(keyword),
        (None, Some(function)) => Token::Function(function),
        // A call of a function that is not known.
        (None, None) if after.starts_with('(') => return None,
        (None, None) => Token::Name(word.to_owned()),
    };
    Some((token, after))
}

/// What follows a number. One that runs into a word is read in different ways.
fn number(rest: &str) -> Option<&str> {
    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = rest.strip_suffix(after)?;
    if number.matches('.').count() > 1 || number == "." {
        return None;
    }
    let after = match after.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            let after = digits.trim_start_matches(|c: char| c.is_ascii_digit());
            if after.len() == digits.len() {
                return None;
            }
            after
        }
        None => after,
    };
    let runs_on = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '"');
    (!after.starts_with(runs_on)).then_some(after)
}

/// What follows the quote that ends a text.
fn text(rest: &str) -> Option<&str> {
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '"' => return Some(letters.as_str()),
            '\n' => return None,
            '\\' => {
                letters.next().filter(|letter| *letter != '\n')?;
            }
            _ => {}
        }
    }
}

/// A regular expression and what follows it.
fn regex(rest: &str) -> Option<(Token, &str)> {
    let mut letters = rest.chars();
    loop {
        match letters.next()? {
            '/' => {
                let after = letters.as_str();
                let inner = rest.strip_suffix(after)?.strip_suffix('/')?;
                return Some((Token::Regex(inner.to_owned()), after));
            }
            '\n' => return None,
            '\\' => {
                letters.next().filter(|letter| *letter != '\n')?;
            }
            '[' => brackets(&mut letters)?,
            _ => {}
        }
    }
}

/// Goes behind a list of characters. Some implementations end a regular expression at a slash in such a
/// list and others do not, so it may hold none, nor anything else that makes its end doubtful.
fn brackets(letters: &mut std::str::Chars<'_>) -> Option<()> {
    let mut rest = letters.as_str();
    rest = rest.strip_prefix('^').unwrap_or(rest);
    if rest.starts_with(']') {
        return None;
    }
    loop {
        if let Some(class) = rest.strip_prefix("[:") {
            let (name, after) = class.split_once(":]")?;
            if !name.chars().all(|c| c.is_ascii_lowercase()) {
                return None;
            }
            rest = after;
            continue;
        }
        let mut inner = rest.chars();
        match inner.next()? {
            ']' => {
                *letters = inner;
                return Some(());
            }
            '/' | '[' | '\n' => return None,
            '\\' => {
                inner.next().filter(|letter| !matches!(letter, ']' | '/' | '\\' | '\n'))?;
            }
            _ => {}
        }
        rest = inner.as_str();
    }
}
