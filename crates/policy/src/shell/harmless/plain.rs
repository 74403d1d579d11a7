//! Splits the plainest of lines: words, pipes, lists, and redirections that lead nowhere.

use tool::{Argv, Inlet, Outlet, Streams};

use super::{Known, path, table};
use crate::shell::Joined;

/// One pipeline.
#[derive(Debug, Default)]
pub(super) struct Pipeline {
    pub(super) joined: Joined,
    pub(super) pipeline: Vec<Plain>,
}

/// One command.
#[derive(Debug, Default)]
pub(super) struct Plain {
    pub(super) words: Vec<String>,
    pub(super) streams: Streams,
}

impl Plain {
    /// The same if it is known to be harmless.
    pub(super) fn checked(self, known: Known<'_>) -> Result<Argv, String> {
        let Self { words, streams } = self;
        if let Inlet::File(file) = &streams.input {
            path::check(file)?;
        }
        table::check(&words, known).map(|argv| Argv { streams, ..argv })
    }
}

/// The pipelines of `line`, or `None` if there is more to it.
pub(super) fn split(line: &str) -> Option<Vec<Pipeline>> {
    let mut splitter = Splitter {
        rest: line,
        steps: Vec::new(),
        step: Pipeline::default(),
        plain: Plain::default(),
    };
    while !splitter.rest.is_empty() {
        splitter.token()?;
    }
    splitter.end_command();
    splitter.end_step(Joined::Next);
    // An operator at the end, or two in a row, is an error or a line that goes on.
    let whole =
        splitter.steps.iter().all(|step| step.pipeline.iter().all(|one| !one.words.is_empty()));
    (whole && !splitter.steps.is_empty() && splitter.step.joined == Joined::Next)
        .then_some(splitter.steps)
}

struct Splitter<'a> {
    rest: &'a str,
    steps: Vec<Pipeline>,
    step: Pipeline,
    plain: Plain,
}

/// What may stand after an operator and before it.
const OPERATORS: &[(&str, Joined)] = &[
    ("&&", Joined::And),
    ("||", Joined::Or),
    ("|", Joined::Pipe),
    (";", Joined::Next),
    ("\n", Joined::Next),
];

impl Splitter<'_> {
    fn token(&mut self) -> Option<()> {
        let trimmed = self.rest.trim_start_matches([' ', '\t']);
        self.rest = trimmed;
        if trimmed.is_empty() {
            return Some(());
        }
        if self.redirection() || self.input()? {
            return Some(());
        }
        if let Some((operator, joined)) =
            OPERATORS.iter().find(|(text, _)| trimmed.starts_with(text))
        {
            self.rest = trimmed.strip_prefix(operator)?;
            return self.operator(*joined);
        }
        let word = self.word()?;
        self.plain.words.push(word);
        Some(())
    }

    fn operator(&mut self, joined: Joined) -> Option<()> {
        if self.plain.words.is_empty() {
            return None;
        }
        self.end_command();
        if joined != Joined::Pipe {
            self.end_step(joined);
        }
        Some(())
    }

    fn end_command(&mut self) {
        let plain = std::mem::take(&mut self.plain);
        if !plain.words.is_empty() || !self.step.pipeline.is_empty() {
            self.step.pipeline.push(plain);
        }
    }

    fn end_step(&mut self, joined: Joined) {
        let step = std::mem::replace(&mut self.step, Pipeline { joined, pipeline: Vec::new() });
        if !step.pipeline.is_empty() {
            self.steps.push(step);
        } else if step.joined != Joined::Next {
            self.step.joined = step.joined;
        }
    }

    /// `2>&1` and what leads to `/dev/null`.
    fn redirection(&mut self) -> bool {
        let Streams { output, errors, .. } = self.plain.streams;
        let forms = [
            (">&2", (other(errors), errors)),
            ("1>&2", (other(errors), errors)),
            ("2>&1", (output, other(output))),
            ("2>/dev/null", (output, Outlet::Null)),
            ("2> /dev/null", (output, Outlet::Null)),
            (">/dev/null", (Outlet::Null, errors)),
            ("> /dev/null", (Outlet::Null, errors)),
            ("1>/dev/null", (Outlet::Null, errors)),
            ("&>/dev/null", (Outlet::Null, Outlet::Null)),
            ("&> /dev/null", (Outlet::Null, Outlet::Null)),
        ];
        for (form, (output, errors)) in forms {
            if let Some(rest) = self.rest.strip_prefix(form)
                && (rest.is_empty() || rest.starts_with([' ', '\t', ';', '|', '\n']))
            {
                self.rest = rest;
                let streams = &mut self.plain.streams;
                (streams.output, streams.errors) = (output, errors);
                return true;
            }
        }
        false
    }

    /// `<` and a plain word; a file that does not exist ends the command before it starts, so there
    /// may be only one.
    fn input(&mut self) -> Option<bool> {
        let Some(rest) = self.rest.strip_prefix('<') else { return Some(false) };
        self.rest = rest.trim_start_matches([' ', '\t']);
        let file = self.word().filter(|file| !file.is_empty())?;
        if self.plain.streams.input != Inlet::Own {
            return None;
        }
        self.plain.streams.input =
            if file == "/dev/null" { Inlet::Null } else { Inlet::File(file) };
        Some(true)
    }

    fn word(&mut self) -> Option<String> {
        let mut word = String::new();
        let mut letters = self.rest.chars();
        loop {
            let before = letters.as_str();
            let Some(letter) = letters.next() else {
                self.rest = "";
                return Some(word);
            };
            match letter {
                ' ' | '\t' | '\n' | '|' | ';' => {
                    self.rest = before;
                    return Some(word);
                }
                '&' if letters.as_str().starts_with('&') => {
                    self.rest = before;
                    return Some(word);
                }
                '&' | '<' | '>' | '(' | ')' | '`' => return None,
                '#' if word.is_empty() => return None,
                '\\' => word.push(letters.next().filter(|c| *c != '\n')?),
                '\'' => {
                    let (inner, after) = letters.as_str().split_once('\'')?;
                    word.push_str(inner);
                    letters = after.chars();
                }
                '"' => quoted(&mut letters, &mut word)?,
                _ => word.push(letter),
            }
        }
    }
}

const fn other(of: Outlet) -> Outlet {
    match of {
        Outlet::Own => Outlet::Other,
        Outlet::Other => Outlet::Own,
        Outlet::Null => Outlet::Null,
    }
}

fn quoted(letters: &mut std::str::Chars<'_>, word: &mut String) -> Option<()> {
    loop {
        match letters.next()? {
            '"' => return Some(()),
            '`' => return None,
            '\\' => match letters.next()? {
                '\n' => return None,
                same @ ('"' | '\\' | '$' | '`') => word.push(same),
                more => word.extend(['\\', more]),
            },
            letter => word.push(letter),
        }
    }
}
