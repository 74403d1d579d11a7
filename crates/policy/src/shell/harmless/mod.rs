//! Which lines are known to be harmless.
//!
//! A harmless line is executed as lists of arguments, without a shell: what was judged is what runs.
//! Every program has an entry in a table; what an entry does not name is refused.

mod cd;
mod entry;
mod git_names;
mod options;
mod outside;
mod path;
mod plain;
mod script;
mod steps;
mod table;
mod unknown;

use tool::{Action, After, Inlet, Step};

use super::{Analysis, Command, Joined, analyse};

use self::plain::{Pipeline, Plain};

pub use entry::{Entry, Operands};
pub use outside::outside_doubt;
pub use steps::Harmless;

/// Each program of a pipeline has a sandbox of its own.
const MOST_AT_ONCE: usize = 16;

/// What programs run is not followed if they are shells or go elsewhere; these only print a version.
const OPAQUE_VERSIONS: &[&str] = &["ssh -V", "tmux -V", "zsh --version"];

/// Whether a line is known to be harmless.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Judgement {
    /// It is, if it is executed like this.
    Harmless(Harmless),
    /// It is not known to be, because of this.
    Not(String),
}

/// What is known besides the built-in table.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// Programs that the operator added.
    pub entries: &'a [Entry],
    /// Where a program is in a trusted folder, by its name; if that has a folder, whether it is there.
    pub find: &'a dyn Fn(&str) -> Option<String>,
    /// Folders that hold programs nobody but the machine's owner can change.
    pub trusted: &'a [String],
}

impl std::fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Known").field("entries", &self.entries).finish_non_exhaustive()
    }
}

/// Whether `line` is known to be harmless, and how it is executed then.
pub fn harmless(line: &str, known: Known<'_>) -> Judgement {
    let judged = judge_plain(line, known).or_else(|reason| {
        // Where a shell is of no help, the first reason says more.
        let script = script::judge_script(line, known);
        let says_more = is_plain(line) && reason != NOT_PLAIN;
        script.map_err(|other| if says_more { reason } else { other })
    });
    match judged {
        Ok(harmless) => Judgement::Harmless(harmless),
        Err(reason) => Judgement::Not(reason),
    }
}

const NOT_PLAIN: &str = "it has expansions, assignments or nested commands";

/// Whether the line is read without a shell, as far as its words go.
fn is_plain(line: &str) -> bool {
    plain::split(line).is_some() && !line.contains(['*', '?', '$', '`', '{'])
}

/// Whether a line that is known to be harmless is so in any shell, too: nothing has to be added to any of its
/// programs, and nothing of a repository switched off.
pub fn is_bare(line: &str, known: Known<'_>) -> bool {
    let plain = plain::split(line).unwrap_or_default();
    let mut commands = plain.iter().flat_map(|step| &step.pipeline).peekable();
    commands.peek().is_some() && commands.all(|one| table::is_bare(&one.words, known))
}

/// Judges a line of plain commands.
fn judge_plain(line: &str, known: Known<'_>) -> Result<Harmless, String> {
    if !unknown::is_free(line) {
        return Err("it has characters that mean nothing".to_owned());
    }
    if OPAQUE_VERSIONS.contains(&line) {
        let plain = plain::split(line).unwrap_or_default();
        let mut all = plain.into_iter().map(|one| action(one.pipeline, known));
        let action = all.next().ok_or("a command is missing")??;
        return Ok(Harmless { steps: vec![Step { after: After::Anything, action }] });
    }
    let commands = match analyse(line) {
        Analysis::Commands(commands) => commands,
        Analysis::Opaque(opaque) => return Err(format!("it cannot be taken apart: {opaque}")),
    };
    let plain = plain::split(line).ok_or("it is more than pipes and lists of plain commands")?;
    let read: Vec<_> = plain.iter().flat_map(|step| &step.pipeline).collect();
    if commands.len() != read.len() || !commands.iter().zip(&read).all(is_same) {
        return Err(NOT_PLAIN.to_owned());
    }
    let steps = plain.into_iter().map(|Pipeline { joined, pipeline }| {
        let after = match joined {
            Joined::Next | Joined::Pipe => After::Anything,
            Joined::And => After::Success,
            Joined::Or => After::Failure,
        };
        Ok(Step { after, action: action(pipeline, known)? })
    });
    Ok(Harmless { steps: steps.collect::<Result<_, String>>()? })
}

/// Whether both readings of a command agree.
fn is_same((command, plain): (&Command, &&Plain)) -> bool {
    let literals: Option<Vec<_>> = command.words.iter().map(|word| word.literal()).collect();
    let mut inputs = command.redirections.iter().filter(|one| one.operator == "<");
    let input = match &plain.streams.input {
        Inlet::Own => None,
        Inlet::Null => Some("/dev/null"),
        Inlet::File(file) => Some(file.as_str()),
    };
    literals.is_some_and(|literals| literals == plain.words)
        && inputs.next().map(|one| one.target.literal()) == input.map(Some)
        && inputs.next().is_none()
        && command.assignments.is_empty()
        && command.within.is_empty()
}

fn action(pipeline: Vec<Plain>, known: Known<'_>) -> Result<Action, String> {
    if let [one] = pipeline.as_slice()
        && let Some(folder) = cd::folder(one)
    {
        return folder.map(Action::Enter);
    }
    if pipeline.len() > MOST_AT_ONCE {
        return Err(format!("it is a pipeline of more than {MOST_AT_ONCE} programs"));
    }
    let checked = pipeline.into_iter().map(|one| one.checked(known));
    Ok(Action::Run(checked.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests;
