//! What is known about one program.

use std::borrow::Cow;

type Text = Cow<'static, str>;

/// What is known about one program: which options and arguments are harmless.
///
/// Options are written as people write them, separated by spaces: `-n`, `--lines`. One that takes a
/// value says so after a colon: `-n:text`, `--file:path`, and one that takes two after two:
/// `--arg:text:text`; one that may have a value after `=`, or
/// right behind its letter, says so after a question mark: `--color?text`.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The program, and the subcommand if it has them: `git log`.
    pub name: Text,
    /// The options.
    pub options: Text,
    /// What may stand besides options.
    pub operands: Operands,
    /// The most there may be of them.
    pub max: usize,
    /// Whether long options may be cut short, as GNU programs have it.
    pub(super) abbreviates: bool,
    /// Whether values stand in words of their own, because it does not read options as others do.
    pub(super) separates: bool,
    /// What looks at the arguments besides.
    pub(super) check: Option<Check>,
    /// Whether it may have words that are not known before it runs.
    pub(super) unknown_words: UnknownWords,
    /// What changes the arguments so that they are harmless.
    pub(super) guard: Option<Guard>,
    /// What reads the arguments instead, if they are not like those of others.
    pub(super) reads: Option<Reads>,
    /// What makes it safe, put before its arguments.
    pub(super) before: &'static [&'static str],
    /// The same, put behind its options.
    pub(super) behind: &'static [&'static str],
    /// Variables it must have.
    pub(super) env: &'static [(&'static str, &'static str)],
    /// Whether it says where programs are, for which it must have the usual `PATH`.
    pub(super) finds: bool,
    /// The script that has a shell do it, if the shell has it itself. It is given the arguments as
    /// they are, and none of them becomes a part of it.
    pub(super) builtin: Option<&'static str>,
    /// Where it must run.
    pub(super) folder: Option<&'static str>,
    /// Lines that are harmless, and lines that are not.
    pub(super) examples: Examples,
}

/// Whether a program may have words that are not known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnknownWords {
    /// As operands behind `--`, and as values of options.
    BehindDashes,
    /// As operands that start with something known: it does not know `--`.
    WithKnownStart,
    /// Anywhere: it reads its words itself.
    Anywhere,
    /// Nowhere.
    Refused,
}

/// Looks at arguments that are told apart.
pub(super) type Check = fn(&Arguments) -> Result<(), String>;
/// Changes arguments that are told apart, or refuses them.
pub(super) type Guard = fn(&mut Arguments) -> Result<(), String>;
/// Gives back the arguments as the program is to get them.
pub(super) type Reads = fn(&[String]) -> Result<Vec<String>, String>;
/// Lines that are harmless, and lines that are not.
pub(super) type Examples = (&'static [&'static str], &'static [&'static str]);

/// What may stand besides options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operands {
    /// Nothing.
    None,
    /// Any text.
    Text,
    /// Paths within the workspace, or `-` for standard input.
    Paths,
    /// One text, such as a pattern, unless an option of these letters gives it; then paths.
    TextThenPaths(&'static str),
    /// Names of commits or paths within the workspace, as git takes them.
    Revisions,
}

/// The arguments of a command, told apart.
#[derive(Debug, Default)]
pub(super) struct Arguments {
    /// Options in full, each with its value.
    pub(super) options: Vec<(String, Option<String>)>,
    /// The rest.
    pub(super) operands: Vec<String>,
    /// How many of them stand before `--`, if there is one.
    pub(super) split: Option<usize>,
    /// Options that make it safe, depending on the others.
    pub(super) added: Vec<&'static str>,
}

impl Arguments {
    /// The operands before `--` and behind it.
    pub(super) fn around_dashes(&self) -> (&[String], &[String]) {
        let split = self.split.unwrap_or(self.operands.len());
        self.operands.split_at_checked(split).unwrap_or((self.operands.as_slice(), &[]))
    }

    /// Whether one of the options was given.
    pub(super) fn has(&self, options: &[&str]) -> bool {
        self.options.iter().any(|(name, _)| options.contains(&name.as_str()))
    }
}

impl Entry {
    /// One without options and operands.
    pub(super) const fn new(name: &'static str, options: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            options: Cow::Borrowed(options),
            operands: Operands::None,
            max: usize::MAX,
            abbreviates: true,
            separates: false,
            check: None,
            unknown_words: UnknownWords::BehindDashes,
            guard: None,
            reads: None,
            before: &[],
            behind: &[],
            env: &[],
            finds: false,
            builtin: None,
            folder: None,
            examples: (&[], &[]),
        }
    }

    /// One that reads files.
    pub(super) const fn paths(name: &'static str, options: &'static str) -> Self {
        Self::new(name, options).taking(Operands::Paths)
    }

    /// One that an operator added.
    pub fn added(name: &str, options: &[String], operands: Operands, max: Option<usize>) -> Self {
        Self {
            name: name.to_owned().into(),
            options: options.join(" ").into(),
            operands,
            max: max.unwrap_or(usize::MAX),
            abbreviates: false,
            ..Self::new("", "")
        }
    }

    /// With lines that are harmless and lines that are not.
    pub(super) const fn with(
        mut self,
        harmless: &'static [&'static str],
        not: &'static [&'static str],
    ) -> Self {
        self.examples = (harmless, not);
        self
    }

    pub(super) const fn at_most(mut self, max: usize) -> Self {
        self.max = max;
        self
    }

    pub(super) const fn taking(mut self, operands: Operands) -> Self {
        self.operands = operands;
        self
    }

    pub(super) const fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self.unknown_words = UnknownWords::Refused;
        self
    }

    pub(super) const fn guarded(mut self, guard: Guard) -> Self {
        self.guard = Some(guard);
        self.unknown_words = UnknownWords::Refused;
        self
    }

    /// One whose check holds for words that are not known, too.
    pub(super) const fn with_unknown(mut self, unknown: UnknownWords) -> Self {
        self.unknown_words = unknown;
        self
    }

    /// One whose long options are written out.
    pub(super) const fn in_full(mut self) -> Self {
        self.abbreviates = false;
        self
    }

    /// One whose values stand in words of their own.
    pub(super) const fn separated(mut self) -> Self {
        self.separates = true;
        self.unknown_words = UnknownWords::WithKnownStart;
        self
    }

    pub(super) const fn reading(mut self, reads: Reads) -> Self {
        self.reads = Some(reads);
        self.unknown_words = UnknownWords::Refused;
        self
    }

    pub(super) const fn before(mut self, before: &'static [&'static str]) -> Self {
        self.before = before;
        self
    }

    pub(super) const fn behind(mut self, behind: &'static [&'static str]) -> Self {
        self.behind = behind;
        self
    }

    /// One that needs these variables.
    pub(super) const fn with_env(mut self, env: &'static [(&'static str, &'static str)]) -> Self {
        self.env = env;
        self
    }

    /// One that says where programs are.
    pub(super) const fn finding(mut self) -> Self {
        self.finds = true;
        self
    }

    /// One that the shell has itself.
    pub(super) const fn by_shell(mut self, script: &'static str) -> Self {
        self.builtin = Some(script);
        self.unknown_words = UnknownWords::Refused;
        self
    }

    /// One that runs in this folder.
    pub(super) const fn within(mut self, folder: &'static str) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Whether the operator added it.
    pub(super) const fn is_added(&self) -> bool {
        matches!(self.name, Cow::Owned(_))
    }

    /// The options of this entry.
    pub(super) fn options(&self) -> impl Iterator<Item = Known<'_>> {
        self.options.split_whitespace().map(Known::new)
    }
}

/// One option of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) name: &'a str,
    pub(super) takes: Takes,
    pub(super) path: bool,
}

/// Whether an option has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    Nothing,
    Value,
    /// Two words of their own behind a long option.
    Two,
    Perhaps,
}

impl<'a> Known<'a> {
    fn new(text: &'a str) -> Self {
        let (name, takes, kind) = match (text.split_once(':'), text.split_once('?')) {
            (Some((name, kind)), _) if kind.contains(':') => (name, Takes::Two, kind),
            (Some((name, kind)), _) => (name, Takes::Value, kind),
            (None, Some((name, kind))) => (name, Takes::Perhaps, kind),
            (None, None) => (text, Takes::Nothing, ""),
        };
        Self { name, takes, path: kind == "path" }
    }
}
