//! Programs that an operator added to the list.

use config::{ConfigError, ConfigProblem, Exec, SafeBin, SafeOperands, Spanned};

use super::{Entry, Judgement, Known, Operands, harmless};

/// Where the system keeps its own programs.
const TRUSTED: &[&str] = &["/usr/bin", "/bin"];

/// What configuration says about harmless commands, ready to be used.
#[derive(Debug, Clone)]
pub struct SafeList {
    entries: Vec<Entry>,
    folders: Vec<String>,
}

impl SafeList {
    /// What `exec` adds to the built-in list. Whether its programs do what their examples say was
    /// checked when the configuration was read.
    pub fn new(exec: &Exec) -> Self {
        Self { entries: entries(exec), folders: trusted_folders(exec) }
    }

    /// Folders whose programs can be harmless.
    pub fn folders(&self) -> &[String] {
        &self.folders
    }

    /// The same with what finds a program in those folders.
    pub const fn known<'a>(&'a self, find: &'a dyn Fn(&str) -> Option<String>) -> Known<'a> {
        Known { entries: self.entries.as_slice(), find, trusted: self.folders.as_slice() }
    }
}

fn trusted_folders(exec: &Exec) -> Vec<String> {
    let added = exec.trusted_folders.value.iter().map(|folder| folder.value.display().to_string());
    TRUSTED.iter().map(|&folder| folder.to_owned()).chain(added).collect()
}

/// The programs that `exec` adds, as they are written.
fn entries(exec: &Exec) -> Vec<Entry> {
    exec.safe_bins.values().map(entry).collect()
}

fn entry(bin: &SafeBin) -> Entry {
    let SafeBin { program, options, operands, max_operands, matches: _, refuses: _ } = bin;
    let options: Vec<_> = options.value.iter().map(|option| option.value.clone()).collect();
    let operands = match operands.value {
        SafeOperands::None => Operands::None,
        SafeOperands::Text => Operands::Text,
        SafeOperands::Paths => Operands::Paths,
        SafeOperands::TextThenPaths => Operands::TextThenPaths(""),
    };
    let max = max_operands.as_ref().and_then(|max| usize::try_from(max.value).ok());
    Entry::added(&program.value, &options, operands, max)
}

/// Whether every program that `exec` adds is described as its own examples say.
pub fn check_safe_bins(exec: &Exec) -> Result<(), ConfigError> {
    let list = SafeList::new(exec);
    // Where programs are does not matter here.
    let known = list.known(&|_| None);
    let problems: Vec<_> = exec.safe_bins.values().flat_map(|bin| problems(bin, known)).collect();
    if problems.is_empty() { Ok(()) } else { Err(ConfigError::new(problems)) }
}

fn problems(bin: &SafeBin, known: Known<'_>) -> Vec<ConfigProblem> {
    let SafeBin { program, options, matches, refuses, operands: _, max_operands: _ } = bin;
    let mut problems = Vec::new();
    let name = &program.value;
    if name.is_empty() || name.contains('/') || name.split(' ').any(str::is_empty) {
        let text = format!("`{name}` is no program; write its name without a folder");
        problems.push(problem(program, "program", &text));
    }
    for option in options.value.iter().filter(|option| !is_option(&option.value)) {
        let text = format!(
            "`{}` is no option; write `-v`, `--depth:text`, `--file:path` or `--color?text`",
            option.value
        );
        problems.push(problem(option, "options", &text));
    }
    for (examples, key) in [(matches, "matches"), (refuses, "refuses")] {
        if examples.value.is_empty() {
            let text = format!("`{name}` has no example that it {key}; give at least one");
            problems.push(problem(program, key, &text));
        }
    }
    for example in &matches.value {
        if let Judgement::Not(reason) = harmless(&example.value, known) {
            let text = format!("`{}` should be harmless and is not: {reason}", example.value);
            problems.push(problem(example, "matches", &text));
        }
    }
    for example in &refuses.value {
        if let Judgement::Harmless(_) = harmless(&example.value, known) {
            let text = format!("`{}` should not be harmless and is", example.value);
            problems.push(problem(example, "refuses", &text));
        }
    }
    problems
}

fn is_option(option: &str) -> bool {
    let (name, kind) = option.split_once([':', '?']).unwrap_or((option, "text"));
    let letters = name.strip_prefix("--").or_else(|| name.strip_prefix('-')).unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    !letters.is_empty() && letters.chars().all(plain) && matches!(kind, "text" | "path")
}

fn problem<T>(place: &Spanned<T>, key: &str, message: &str) -> ConfigProblem {
    let at = place.at.as_ref();
    ConfigProblem {
        file: at.map_or_else(|| "configuration".into(), |at| at.file.clone()),
        line: at.map_or(0, |at| at.line),
        column: 0,
        key: format!("tools.exec.safe_bins.{key}"),
        message: format!("`tools.exec.safe_bins`: {message}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{SafeList, check_safe_bins};
    use crate::shell::{Judgement, harmless};

    const GOOD: &str = r#"
[[tools.exec.safe_bins]]
program = "cargo tree"
options = ["-e:text", "--depth:text", "-i", "--manifest-path:path"]
operands = "text"
max_operands = 1
matches = ["cargo tree --depth 1", "cargo tree -i serde"]
refuses = ["cargo tree --config x", "cargo tree a b", "cargo tree --manifest-path /x"]
"#;

    #[test]
    fn an_operator_adds_a_program() {
        let exec = config::parse(GOOD, "t.toml").unwrap().tools.exec;
        check_safe_bins(&exec).unwrap();
        let list = SafeList::new(&exec);
        let known = list.known(&|_| None);
        for (line, expected) in [
            ("cargo tree --depth 2 | head -5", true),
            ("cargo tree --dep 2", false),
            ("cargo build", false),
            ("cargo", false),
        ] {
            let found = matches!(harmless(line, known), Judgement::Harmless(_));
            assert_eq!(found, expected, "{line}");
        }
    }

    #[test]
    fn an_example_that_does_not_hold_is_named_with_its_line() {
        let wrong = GOOD
            .replace(r#"matches = ["cargo tree --depth 1""#, r#"matches = ["cargo tree --x""#)
            .replace("\"cargo tree a b\"", "\"cargo tree a\"");
        let exec = config::parse(&wrong, "t.toml").unwrap().tools.exec;
        let error = check_safe_bins(&exec).unwrap_err().to_string();
        assert!(
            error.contains("t.toml:7: `tools.exec.safe_bins`: `cargo tree --x` should be"),
            "{error}"
        );
        assert!(
            error.contains("t.toml:8: `tools.exec.safe_bins`: `cargo tree a` should not be"),
            "{error}"
        );
        for (wrong, expected) in [
            (r#"refuses = ["cargo tree --config x""#, "no example that it refuses"),
            (r#""-i""#, "is no option"),
        ] {
            let text = match wrong {
                r#""-i""# => GOOD.replace(wrong, r#""-i:file""#),
                _ => GOOD
                    .lines()
                    .filter(|line| !line.starts_with("refuses"))
                    .collect::<Vec<_>>()
                    .join("\n"),
            };
            let exec = config::parse(&text, "t.toml").unwrap().tools.exec;
            let error = check_safe_bins(&exec).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
