//! Which lines are known to be harmless.
//!
//! A harmless line is executed as lists of arguments, without a shell: what was judged is what runs.
//! Every program has an entry in a table; what an entry does not name is refused.

mod entry;
mod options;
mod path;
mod plain;
mod steps;
mod table;

use super::{Analysis, Command, analyse};

pub use entry::{Entry, Operands};
pub use steps::{Argv, Harmless, Step, Stream, Streams};

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
    /// Where a program is in a trusted folder, by its name.
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
    match judge(line, known) {
        Ok(harmless) => Judgement::Harmless(harmless),
        Err(reason) => Judgement::Not(reason),
    }
}

fn judge(line: &str, known: Known<'_>) -> Result<Harmless, String> {
    let commands = match analyse(line) {
        Analysis::Commands(commands) => commands,
        Analysis::Opaque(opaque) => return Err(format!("it cannot be taken apart: {opaque}")),
    };
    let plain = plain::split(line).ok_or("it is more than pipes and lists of plain commands")?;
    let read: Vec<_> = plain.iter().flat_map(|step| &step.pipeline).map(|one| &one.words).collect();
    let same = |(command, words): (&Command, &&Vec<String>)| {
        let literals: Option<Vec<_>> = command.words.iter().map(|word| word.literal()).collect();
        literals.is_some_and(|literals| literals == **words)
            && command.assignments.is_empty()
            && command.within.is_empty()
    };
    if commands.len() != read.len() || !commands.iter().zip(&read).all(same) {
        return Err("it has expansions, assignments or nested commands".to_owned());
    }
    let steps = plain.into_iter().map(|step| {
        let pipeline = step.pipeline.into_iter().map(|one| one.checked(known));
        Ok(Step { joined: step.joined, pipeline: pipeline.collect::<Result<_, String>>()? })
    });
    Ok(Harmless { steps: steps.collect::<Result<_, String>>()? })
}

#[cfg(test)]
mod tests;
