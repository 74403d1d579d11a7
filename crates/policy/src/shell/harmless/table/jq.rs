//! Filters of `jq`.
//!
//! A filter can read modules, the environment and files of the search path, so only words on a list
//! are harmless in it. Fields, keys, variables, texts and functions that the filter defines itself
//! have any name.

use std::collections::BTreeSet;

use super::super::{entry::Arguments, unknown};

pub(super) const HARMLESS: &[&str] = &[
    "jq . data.json",
    "jq -r .name data.json",
    "jq 'keys' data.json",
    "jq length data.json",
    "jq '.env | .a[0]' a",
    "jq -c 'map(select(.x > 1))' a",
    "jq --arg n ada '.[] | select(.name == $n)' a",
    "jq . a --argjson n 1",
    "jq -r '.[] | \"\\(.name): \\(.id) import env\"' a",
    "jq '{name, id: .x, env: 1, \"k\": [.a, .b]}' a",
    "jq 'to_entries | map({key, value: (.value | length)}) | from_entries' a",
    "jq 'def f(x): x + 1; map(f(.))' a",
    "jq 'reduce .[] as $x (0; . + $x) | if . > 3 then \"a\" else empty end' a",
    "jq '.a?.b // \"none\" | @csv, @base64 \"x\\(.y)\"' a",
    "jq '.. | .name? | strings' a",
];
pub(super) const NOT: &[&str] = &[
    "jq -n env",
    "jq -n '$ENV'",
    "jq -n '\"\\(env)\"'",
    "jq -n '\"\\(\"\\(env)\")\"'",
    "jq -n '[1, env]'",
    "jq -n '{a: env}'",
    "jq -n '{(env): 1}'",
    "jq -n '..env'",
    "jq -n '. env'",
    "jq -n '1.env'",
    "jq -n '$__loc__, input_line_number, getpath([\"a\"]), frobnicate'",
    "jq --rawfile x /etc/passwd -n '$x'",
    "jq -f evil.jq",
    "jq -L . 'import \"a\" as a; .'",
    "jq 'include \"a\"; .' b",
    "jq 'def env: 1; env' b",
    "jq '# \"\nenv' b",
    "jq . /etc/x",
    "jq --slurpfile a b .",
    "jq --argfile a b .",
    "jq -n 'modulemeta'",
    "jq --from-file a",
    "jq -n '$__prog_args'",
    "jq --run-tests a",
    "jq -n 'input_filename, $ENV.PATH'",
    "jq --arg x",
    "jq --arg=x y z . a",
    "jq --arg a . env",
    "jq . --arg a b /etc/passwd",
    "jq -n 'a::env'",
];

/// Keywords, and functions that only compute.
const KNOWN: &[&str] = &[
    "IN",
    "INDEX",
    "abs",
    "add",
    "all",
    "and",
    "any",
    "arrays",
    "as",
    "ascii",
    "ascii_downcase",
    "ascii_upcase",
    "booleans",
    "capture",
    "catch",
    "ceil",
    "combinations",
    "contains",
    "date",
    "debug",
    "def",
    "del",
    "delpaths",
    "elif",
    "else",
    "empty",
    "end",
    "endswith",
    "error",
    "explode",
    "fabs",
    "false",
    "finites",
    "first",
    "flatten",
    "floor",
    "foreach",
    "from_entries",
    "fromdate",
    "fromdateiso8601",
    "fromjson",
    "fromstream",
    "getpath",
    "gmtime",
    "group_by",
    "gsub",
    "halt",
    "has",
    "if",
    "implode",
    "in",
    "index",
    "indices",
    "infinite",
    "input",
    "inputs",
    "inside",
    "isempty",
    "isinfinite",
    "isnan",
    "isnormal",
    "isvalid",
    "iterables",
    "join",
    "keys",
    "keys_unsorted",
    "label",
    "last",
    "leaf_paths",
    "length",
    "limit",
    "localtime",
    "log",
    "log10",
    "log2",
    "ltrimstr",
    "map",
    "map_values",
    "match",
    "max",
    "max_by",
    "min",
    "min_by",
    "mktime",
    "nan",
    "normals",
    "not",
    "now",
    "nth",
    "null",
    "nulls",
    "numbers",
    "objects",
    "or",
    "path",
    "paths",
    "pick",
    "pow",
    "range",
    "recurse",
    "recurse_down",
    "reduce",
    "repeat",
    "reverse",
    "rindex",
    "round",
    "rtrimstr",
    "scalars",
    "scan",
    "select",
    "setpath",
    "sort",
    "sort_by",
    "split",
    "splits",
    "sqrt",
    "startswith",
    "strflocaltime",
    "strftime",
    "strings",
    "strptime",
    "sub",
    "test",
    "then",
    "to_entries",
    "toarray",
    "todate",
    "todateiso8601",
    "tojson",
    "tonumber",
    "tostream",
    "tostring",
    "transpose",
    "trim",
    "true",
    "truncate_stream",
    "try",
    "type",
    "unique",
    "unique_by",
    "until",
    "utf8bytelength",
    "values",
    "walk",
    "while",
    "with_entries",
];

/// Names that a filter may not give to a function of its own.
const REFUSED: &[&str] =
    &["ENV", "__prog_args", "env", "get_search_list", "import", "include", "modulemeta"];

pub(super) fn check(arguments: &Arguments) -> Result<(), String> {
    let filter = arguments.operands.first().map(String::as_str).unwrap_or_default();
    let mut reader = FilterReader::default();
    match reader.read(filter) {
        Some(()) => Ok(()),
        None => Err("a filter of `jq` is not known to be harmless".to_owned()),
    }
}

/// Reads a filter letter by letter.
#[derive(Default)]
struct FilterReader {
    /// Open brackets, and `"` for a text whose inserted part is read.
    open: Vec<char>,
    /// The last letter that is no blank, and whether blanks follow it.
    before: (char, bool),
    /// Functions and parameters that the filter defines.
    defined: BTreeSet<String>,
    /// Whether the head of a definition is read.
    defining: bool,
}

impl FilterReader {
    fn read(&mut self, filter: &str) -> Option<()> {
        if !unknown::is_known(filter) {
            return None;
        }
        let mut rest = filter;
        while let Some(letter) = rest.chars().next() {
            rest = match letter {
                'a'..='z' | 'A'..='Z' | '_' => self.word(rest)?,
                '0'..='9' => {
                    let after = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                    // `1.env` could be a number and a word.
                    let decimals = after.strip_prefix('.').unwrap_or(after);
                    if decimals.len() < after.len() && decimals.starts_with(is_letter) {
                        return None;
                    }
                    self.before = ('0', false);
                    after
                }
                '"' => self.text(rest.strip_prefix('"')?)?,
                '(' | '[' | '{' => self.open(letter, rest)?,
                ')' | ']' | '}' => self.close(letter, rest)?,
                // A comment hides what follows, to the end of the line.
                '#' | '\\' | '`' => return None,
                _ => {
                    self.blank_or_symbol(letter);
                    rest.strip_prefix(letter)?
                }
            };
        }
        self.open.is_empty().then_some(())
    }

    fn blank_or_symbol(&mut self, letter: char) {
        if letter.is_whitespace() {
            self.before.1 = true;
            return;
        }
        if letter == ':' {
            self.defining = false;
        }
        // `..env` is no field.
        let letter = if letter == '.' && self.before == ('.', false) { '~' } else { letter };
        self.before = (letter, false);
    }

    fn open<'a>(&mut self, bracket: char, rest: &'a str) -> Option<&'a str> {
        self.open.push(bracket);
        self.before = (bracket, false);
        rest.strip_prefix(bracket)
    }

    fn close<'a>(&mut self, bracket: char, rest: &'a str) -> Option<&'a str> {
        let after = rest.strip_prefix(bracket)?;
        let opened = self.open.pop()?;
        self.before = (bracket, false);
        match (opened, bracket) {
            ('(', ')') | ('[', ']') | ('{', '}') => Some(after),
            // Back in the text around it.
            ('"', ')') => self.text(after),
            _ => None,
        }
    }

    /// What follows a text, or the start of what is inserted into it.
    fn text<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let mut letters = rest.chars();
        loop {
            match letters.next()? {
                '"' => {
                    self.before = ('"', false);
                    return Some(letters.as_str());
                }
                '\\' if letters.next()? == '(' => {
                    self.open.push('"');
                    self.before = ('(', false);
                    return Some(letters.as_str());
                }
                _ => {}
            }
        }
    }

    fn word<'a>(&mut self, rest: &'a str) -> Option<&'a str> {
        let after = rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
        let word = rest.strip_suffix(after)?;
        let follows = after.trim_start().chars().next();
        // A name of another module.
        if after.starts_with("::") {
            return None;
        }
        let (before, apart) = std::mem::replace(&mut self.before, ('a', false));
        let is_key = self.open.last() == Some(&'{')
            && matches!(before, '{' | ',')
            && matches!(follows, Some(':' | ',' | '}'));
        let is_harmless = match before {
            '.' if !apart => true,
            '$' => !apart && !REFUSED.contains(&word) && !word.starts_with("__"),
            '@' => !apart,
            _ if self.defining => {
                self.defined.insert(word.to_owned());
                !REFUSED.contains(&word)
            }
            _ => is_key || KNOWN.contains(&word) || self.defined.contains(word),
        };
        self.defining |= word == "def" && !matches!(before, '.' | '$' | '@') && !is_key;
        is_harmless.then_some(after)
    }
}

const fn is_letter(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}
