//! `[[ … ]]`.
//!
//! Comparisons of numbers evaluate what their operands hold, with all that a shell can run, so those
//! must be numbers.

use super::{emit, reader::ScriptReader};

type Read<T> = Result<T, String>;

const FILES: &[&str] = &[
    "-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h", "-b", "-c", "-p", "-S", "-O", "-G", "-N",
    "-u", "-g", "-k", "-z", "-n",
];
const TEXTS: &[&str] = &["=", "==", "!=", "-nt", "-ot", "-ef"];
const NUMBERS: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl ScriptReader<'_> {
    pub(super) fn test(&mut self) -> Read<String> {
        self.expect("[[")?;
        let inner = self.nested(Self::alternatives)?;
        self.blanks();
        self.expect("]]")?;
        Ok(format!("[[ {inner} ]]"))
    }

    fn alternatives(&mut self) -> Read<String> {
        let mut written = self.one_test()?;
        loop {
            self.blanks();
            let operator = if self.take("&&") {
                "&&"
            } else if self.take("||") {
                "||"
            } else {
                return Ok(written);
            };
            let next = self.one_test()?;
            written = format!("{written} {operator} {next}");
        }
    }

    fn one_test(&mut self) -> Read<String> {
        self.blanks();
        if self.peek_keyword() == "!" {
            self.expect("!")?;
            return self.nested(Self::one_test).map(|test| format!("! {test}"));
        }
        if self.take("(") {
            let inner = self.nested(Self::alternatives)?;
            self.blanks();
            self.expect(")")?;
            return Ok(format!("( {inner} )"));
        }
        let first = self.peek_keyword();
        if FILES.contains(&first) {
            self.expect(first)?;
            self.blanks();
            let operand = self.operand()?;
            return Ok(format!("{first} {operand}"));
        }
        let left = self.operand()?;
        self.blanks();
        let operator = self.peek_keyword();
        if operator == "]]" {
            return Ok(format!("-n {left}"));
        }
        if TEXTS.contains(&operator) {
            self.expect(operator)?;
            self.blanks();
            let right = self.operand()?;
            return Ok(format!("{left} {operator} {right}"));
        }
        if operator == "=~" {
            self.expect(operator)?;
            self.blanks();
            let right = self.regex()?;
            return Ok(format!("{left} =~ {right}"));
        }
        if NUMBERS.contains(&operator) {
            self.expect(operator)?;
            self.blanks();
            let right = self.operand()?;
            if is_number(&left) && is_number(&right) {
                return Ok(format!("{left} {operator} {right}"));
            }
        }
        Err("a condition is not known to be harmless".to_owned())
    }

    fn operand(&mut self) -> Read<String> {
        let word = self.single_word()?;
        if word.text.is_empty() && !word.quoted {
            return Err("a condition is incomplete".to_owned());
        }
        Ok(emit::word(&word.text, &self.expansions))
    }

    /// A regular expression without quotes and expansions.
    fn regex(&mut self) -> Read<String> {
        let end = self.rest.find([' ', '\t', '\n']).ok_or("a condition is incomplete")?;
        let (regex, after) = self.rest.split_at_checked(end).ok_or("a condition is incomplete")?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "_.^$*+?[]()|-/:,@=".contains(c);
        let open = regex.matches('(').count() == regex.matches(')').count();
        // A dollar is the end of the text, and never an expansion.
        let ends =
            regex.split('$').skip(1).all(|after| after.is_empty() || after.starts_with([')', '|']));
        if regex.is_empty() || !regex.chars().all(plain) || !open || !ends {
            return Err("a regular expression is not known to be harmless".to_owned());
        }
        self.rest = after;
        Ok(regex.to_owned())
    }
}

fn is_number(written: &str) -> bool {
    let length =
        |text: &str| text.strip_prefix("\"${#").and_then(|text| text.strip_suffix("}\"")).is_some();
    written.chars().all(|c| c.is_ascii_digit())
        || matches!(written, "\"$?\"" | "\"$#\"")
        || length(written)
}
