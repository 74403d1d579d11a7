//! Compound commands and functions.

use super::{Quoted, Read, Reader, opaque};
use crate::shell::{Within, Word, analysis::Value, names::is_name};

impl Reader<'_> {
    /// One command of any kind, with its redirections.
    pub(super) fn command(&mut self) -> Read<()> {
        self.blanks();
        if !self.compound()? {
            return self.simple();
        }
        self.redirections()
    }

    /// A compound command, if there is one here.
    pub(super) fn compound(&mut self) -> Read<bool> {
        if self.sees("((") {
            self.at += 2;
            self.arithmetic("))")?;
            return Ok(true);
        }
        if self.eat("(") {
            self.nested(Within::Subshell, ")")?;
            return Ok(true);
        }
        let Some(word) = self.plain_word() else { return Ok(false) };
        match word {
            "{" => self.part(Within::Group, &["{"], &["}"])?,
            "if" => self.conditional()?,
            "while" => self.loops("while")?,
            "until" => self.loops("until")?,
            "for" => self.each("for")?,
            "select" => self.each("select")?,
            "case" => self.case()?,
            "[[" => self.condition()?,
            "function" => self.function_keyword()?,
            "coproc" => return opaque("`coproc` is not followed"),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The last of `starts`, a list, and one of `ends`, which is taken if it is the only one.
    fn part(&mut self, within: Within, starts: &[&str], ends: &[&str]) -> Read<()> {
        for start in starts {
            self.blank_lines()?;
            self.keyword(start)?;
        }
        self.found.enter(within)?;
        self.list(ends)?;
        self.found.leave();
        if let [end] = ends {
            self.keyword(end)?;
        }
        Ok(())
    }

    fn conditional(&mut self) -> Read<()> {
        let within = || Within::Compound("if");
        self.part(within(), &["if"], &["then", ""])?;
        loop {
            self.part(within(), &["then"], &["elif", "else", "fi"])?;
            match self.plain_word() {
                Some("elif") => self.part(within(), &["elif"], &["then", ""])?,
                Some("else") => return self.part(within(), &["else"], &["fi"]),
                _ => return self.keyword("fi"),
            }
        }
    }

    fn loops(&mut self, word: &'static str) -> Read<()> {
        self.part(Within::Compound(word), &[word], &["do", ""])?;
        self.part(Within::Compound(word), &["do"], &["done"])
    }

    fn each(&mut self, word: &'static str) -> Read<()> {
        self.keyword(word)?;
        self.blanks();
        if word == "for" && self.eat("((") {
            self.arithmetic("))")?;
        } else {
            self.names_and_words()?;
        }
        self.blanks();
        self.eat(";");
        self.part(Within::Compound(word), &["do"], &["done"])
    }

    fn names_and_words(&mut self) -> Read<()> {
        let name = self.plain_word().filter(|name| is_name(name)).map(str::to_owned);
        let Some(name) = name else { return opaque("a loop without a plain variable") };
        self.at += name.len();
        self.blank_lines()?;
        if self.plain_word() != Some("in") {
            return self.found.names.assign_other(&name);
        }
        self.at += 2;
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';') => return Ok(()),
                Some(_) => {
                    let word = self.word(Quoted::No)?;
                    self.found.names.assign(&name, &word)?;
                }
            }
        }
    }

    fn case(&mut self) -> Read<()> {
        self.keyword("case")?;
        self.blanks();
        self.word(Quoted::No)?;
        self.blank_lines()?;
        self.keyword("in")?;
        loop {
            self.blank_lines()?;
            if self.plain_word() == Some("esac") {
                return self.keyword("esac");
            }
            self.patterns()?;
            self.found.enter(Within::Compound("case"))?;
            self.list(&[";;", "esac"])?;
            self.found.leave();
            let _ = self.eat(";;&") || self.eat(";;") || self.eat(";&");
        }
    }

    fn patterns(&mut self) -> Read<()> {
        self.eat("(");
        loop {
            self.blanks();
            self.word(Quoted::No)?;
            self.blanks();
            if self.eat(")") {
                return Ok(());
            }
            if self.sees("||") {
                return opaque("a pattern of `case` is missing");
            }
            self.expect("|")?;
        }
    }

    fn function_keyword(&mut self) -> Read<()> {
        self.keyword("function")?;
        self.blanks();
        let Some(name) = self.plain_word().map(str::to_owned) else {
            return opaque("a function without a plain name");
        };
        self.at += name.len();
        self.blanks();
        if self.eat("(") {
            self.blanks();
            self.expect(")")?;
        }
        self.body(&name)
    }

    /// The body of a function whose name and parentheses are read.
    pub(super) fn function(&mut self, word: &Word) -> Read<()> {
        self.expect("(")?;
        self.blanks();
        self.expect(")")?;
        match &word.value {
            Value::Literal(name) if *name == word.source => self.body(name),
            Value::Literal(_) | Value::One | Value::Any => {
                opaque("the name of a function is not plain")
            }
        }
    }

    fn body(&mut self, name: &str) -> Read<()> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:".contains(c);
        if name.is_empty() || !name.chars().all(plain) {
            return opaque("the name of a function is not plain");
        }
        self.blank_lines()?;
        self.found.enter(Within::Function(name.to_owned()))?;
        let found = self.compound()?;
        self.found.leave();
        if found { self.redirections() } else { opaque("a function without a body") }
    }
}
