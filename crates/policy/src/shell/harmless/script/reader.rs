//! Reads lists, pipelines and compound commands, and writes them anew.

use std::collections::BTreeSet;

use super::{
    super::{Known, MOST_AT_ONCE},
    emit,
    word::Word,
};

/// Deeper lines are refused.
const MAX_DEPTH: usize = 20;
/// More expansions are refused.
const MAX_EXPANSIONS: usize = 500;

type Read<T> = Result<T, String>;

/// Words that end a list.
const ENDS: &[&str] = &["do", "done", "then", "elif", "else", "fi", "esac", "}"];
/// Words that start something that is not read.
const REFUSED: &[&str] = &["case", "select", "function", "coproc", "time", "in"];

/// Reads a line.
pub(super) struct ScriptReader<'a> {
    pub(super) rest: &'a str,
    pub(super) known: Known<'a>,
    /// How each expansion is written.
    pub(super) expansions: Vec<String>,
    /// Every program of the new text, by its path.
    pub(super) programs: BTreeSet<String>,
    /// A program that is in no trusted folder.
    pub(super) missing: Option<String>,
    /// Variables that the programs need.
    pub(super) env: Vec<(String, String)>,
    /// Whether a program tells where others are.
    pub(super) finds_programs: bool,
    /// Where git is, if it is used.
    pub(super) git: Option<String>,
    /// Whether the folder changes.
    pub(super) moves: bool,
    depth: usize,
}

impl<'a> ScriptReader<'a> {
    pub(super) const fn new(line: &'a str, known: Known<'a>) -> Self {
        Self {
            rest: line,
            known,
            expansions: Vec::new(),
            programs: BTreeSet::new(),
            missing: None,
            env: Vec::new(),
            finds_programs: false,
            git: None,
            moves: false,
            depth: 0,
        }
    }

    /// The whole line.
    pub(super) fn script(&mut self) -> Read<String> {
        let script = self.list()?;
        if !self.rest.is_empty() {
            return Err("it has more than loops and lists of plain commands".to_owned());
        }
        if self.git.is_some() && self.moves {
            return Err("`git` runs in another folder than the line".to_owned());
        }
        Ok(script)
    }

    /// Reads one level deeper.
    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= MAX_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        self.depth += 1;
        let done = read(self);
        self.depth -= 1;
        done
    }

    /// Keeps how an expansion is written, and gives its number.
    pub(super) fn keep(&mut self, written: String) -> Read<usize> {
        if self.expansions.len() >= MAX_EXPANSIONS {
            return Err("it has too many expansions".to_owned());
        }
        self.expansions.push(written);
        Ok(self.expansions.len() - 1)
    }

    pub(super) fn blanks(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t']);
        while let Some(rest) = self.rest.strip_prefix("\\\n") {
            self.rest = rest.trim_start_matches([' ', '\t']);
        }
        // A comment, which starts a word and ends with the line.
        if self.rest.starts_with('#') {
            self.rest = self.rest.find('\n').and_then(|at| self.rest.get(at..)).unwrap_or_default();
        }
    }

    fn blanks_and_lines(&mut self) {
        loop {
            self.blanks();
            match self.rest.strip_prefix('\n') {
                Some(rest) => self.rest = rest,
                None => return,
            }
        }
    }

    pub(super) fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    pub(super) fn expect(&mut self, text: &str) -> Read<()> {
        if self.take(text) { Ok(()) } else { Err(format!("`{text}` is missing")) }
    }

    /// The unquoted word that follows, if it is made of letters or brackets alone.
    pub(super) fn peek_keyword(&self) -> &'a str {
        let end = self.rest.find([' ', '\t', '\n', ';', '|', '&', '<', '>', '(', ')']);
        end.and_then(|end| self.rest.get(..end)).unwrap_or(self.rest)
    }

    fn keyword(&mut self, word: &str) -> Read<()> {
        self.blanks_and_lines();
        if self.peek_keyword() == word && self.take(word) {
            return Ok(());
        }
        Err(format!("`{word}` is missing"))
    }

    /// Commands up to what ends them.
    pub(super) fn list(&mut self) -> Read<String> {
        self.nested(|reader| {
            let mut written = String::new();
            loop {
                reader.blanks_and_lines();
                if reader.rest.is_empty()
                    || reader.rest.starts_with(')')
                    || ENDS.contains(&reader.peek_keyword())
                {
                    break;
                }
                reader.and_or(&mut written)?;
                written.push('\n');
                reader.blanks();
                if !(reader.take(";") || reader.rest.starts_with('\n')) {
                    break;
                }
                if reader.rest.starts_with(';') {
                    return Err("it has two operators in a row".to_owned());
                }
            }
            if written.is_empty() { Err("a command is missing".to_owned()) } else { Ok(written) }
        })
    }

    fn and_or(&mut self, written: &mut String) -> Read<()> {
        self.pipeline(written)?;
        loop {
            self.blanks();
            let operator = if self.take("&&") {
                " && "
            } else if self.take("||") {
                " || "
            } else {
                return Ok(());
            };
            written.push_str(operator);
            self.blanks_and_lines();
            self.pipeline(written)?;
        }
    }

    fn pipeline(&mut self, written: &mut String) -> Read<()> {
        self.blanks();
        if self.peek_keyword() == "time" {
            self.expect("time")?;
            self.blanks();
            written.push_str("time ");
            if self.peek_keyword() == "-p" {
                self.expect("-p")?;
                self.blanks();
                written.push_str("-p ");
            }
        }
        if self.peek_keyword() == "!" {
            self.expect("!")?;
            written.push_str("! ");
        }
        for count in 1.. {
            if count > MOST_AT_ONCE {
                return Err(format!("it is a pipeline of more than {MOST_AT_ONCE} programs"));
            }
            self.blanks();
            self.command(written)?;
            self.blanks();
            if self.rest.starts_with("||") || !self.take("|") {
                return Ok(());
            }
            if self.rest.starts_with('&') {
                return Err("`|&` is not known to be harmless".to_owned());
            }
            written.push_str(" | ");
            self.blanks_and_lines();
        }
        Ok(())
    }

    fn command(&mut self, written: &mut String) -> Read<()> {
        let keyword = self.peek_keyword();
        if self.rest.starts_with("((") {
            return Err("arithmetic commands are not known to be harmless".to_owned());
        }
        let compound = match keyword {
            "for" => self.for_loop()?,
            "while" | "until" => self.while_loop(keyword)?,
            "if" => self.condition()?,
            "{" => {
                self.expect("{")?;
                let inner = self.list()?;
                self.keyword("}")?;
                format!("{{\n{inner}}}")
            }
            "[[" => self.test()?,
            _ if self.take("(") => {
                let inner = self.list()?;
                self.expect(")")?;
                format!("(\n{inner})")
            }
            _ if REFUSED.contains(&keyword) || ENDS.contains(&keyword) => {
                return Err(format!("`{keyword}` is not known to be harmless"));
            }
            _ => return self.simple(written),
        };
        written.push_str(&compound);
        self.blanks();
        while let Some(redirection) = self.redirection()? {
            written.push(' ');
            written.push_str(&redirection);
            self.blanks();
        }
        Ok(())
    }

    fn for_loop(&mut self) -> Read<String> {
        self.expect("for")?;
        self.blanks();
        let name = self.peek_keyword();
        check_variable(name)?;
        self.expect(name)?;
        self.keyword("in")?;
        let mut words = String::new();
        loop {
            self.blanks();
            if self.take(";") || self.rest.starts_with('\n') {
                break;
            }
            for Word { text, .. } in self.word()? {
                words.push(' ');
                words.push_str(&emit::word(&text, &self.expansions));
            }
        }
        self.keyword("do")?;
        let body = self.list()?;
        self.keyword("done")?;
        Ok(format!("for {name} in{words}\ndo\n{body}done"))
    }

    fn while_loop(&mut self, keyword: &str) -> Read<String> {
        self.expect(keyword)?;
        let condition = self.list()?;
        self.keyword("do")?;
        let body = self.list()?;
        self.keyword("done")?;
        Ok(format!("{keyword} {condition}do\n{body}done"))
    }

    fn condition(&mut self) -> Read<String> {
        self.expect("if")?;
        let mut written = format!("if {}", self.list()?);
        loop {
            self.keyword("then")?;
            written += "then\n";
            written += &self.list()?;
            self.blanks_and_lines();
            match self.peek_keyword() {
                "elif" => {
                    self.expect("elif")?;
                    written += "elif ";
                    written += &self.list()?;
                }
                "else" => {
                    self.expect("else")?;
                    written += "else\n";
                    written += &self.list()?;
                    self.keyword("fi")?;
                    return Ok(written + "fi");
                }
                _ => {
                    self.keyword("fi")?;
                    return Ok(written + "fi");
                }
            }
        }
    }
}

/// Variables with capital letters may mean something to programs.
pub(super) fn check_variable(name: &str) -> Read<()> {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    let known = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && (name.chars().all(letter)
            || (name.len() == 1 && name.chars().all(|c| c.is_ascii_uppercase())));
    // These are read by programs or by the shell itself.
    let special = name.ends_with("_proxy") || matches!(name, "_" | "auto_resume" | "histchars");
    if known && !special {
        return Ok(());
    }
    Err(format!("the variable `{name}` is not known to be harmless"))
}
