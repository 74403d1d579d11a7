//! What is known about a command line.

use std::fmt;

/// What a command line would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Analysis {
    /// Every simple command that could run, in the order they were found.
    Commands(Vec<Command>),
    /// Something could run that is not known.
    Opaque(Opaque),
}

/// Why a line cannot be taken apart, in words that read on after "because".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opaque(pub String);

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One simple command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Variables that are set for it, or for the shell if it has no words.
    pub assignments: Vec<Assignment>,
    /// Where its input and output go.
    pub redirections: Vec<Redirection>,
    /// How it follows the command before it.
    pub joined: Joined,
    /// What it stands in, outermost first.
    pub within: Vec<Within>,
}

impl Command {
    /// The program, if it has one that is written out.
    pub fn program(&self) -> Option<&str> {
        self.words.first().and_then(Word::literal)
    }

    /// The words as they are written.
    pub fn source(&self) -> String {
        let words: Vec<_> = self.words.iter().map(|word| word.source.as_str()).collect();
        words.join(" ")
    }
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// As it is written.
    pub source: String,
    /// What it becomes.
    pub value: Value,
}

impl Word {
    /// What it becomes, if that is known.
    pub fn literal(&self) -> Option<&str> {
        match &self.value {
            Value::Literal(text) => Some(text),
            Value::One | Value::Any => None,
        }
    }
}

/// What a word becomes when the shell has expanded it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// This text.
    Literal(String),
    /// One word that is not known.
    One,
    /// Any number of words that are not known: unquoted expansions, globs, braces.
    Any,
}

/// A variable and what it is set to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Its value; a list is not known.
    pub value: Word,
}

/// One redirection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirection {
    /// What stands before the operator: a number, a variable in braces, or nothing.
    pub from: String,
    /// The operator.
    pub operator: &'static str,
    /// What stands after it; the delimiter of a here-document.
    pub target: Word,
}

/// How a command follows the one before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Joined {
    /// It is the first, or stands on its own after `;`, `&` or a line.
    #[default]
    Next,
    /// `|`
    Pipe,
    /// `&&`
    And,
    /// `||`
    Or,
}

/// What a command stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Within {
    /// `( … )`
    Subshell,
    /// `{ … }`
    Group,
    /// The condition or the body of `if`, `while`, `until`, `for`, `select`, `case`.
    Compound(&'static str),
    /// The function of that name.
    Function(String),
    /// `$( … )` or backticks.
    Substitution,
    /// `<( … )` or `>( … )`
    ProcessSubstitution,
    /// The arguments of another program that runs it.
    Wrapper(String),
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Subshell => f.write_str("a subshell"),
            Self::Group => f.write_str("a group"),
            Self::Compound(word) => write!(f, "`{word}`"),
            Self::Function(name) => write!(f, "the function `{name}`"),
            Self::Substitution => f.write_str("a command substitution"),
            Self::ProcessSubstitution => f.write_str("a process substitution"),
            Self::Wrapper(name) => write!(f, "the arguments of `{name}`"),
        }
    }
}
