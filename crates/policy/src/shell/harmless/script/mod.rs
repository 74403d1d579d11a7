//! Lines with loops, patterns, variables and substitutions.
//!
//! Such a line needs a shell. It gets one in the sandbox, but not the line as it was written: the
//! line is read into commands that are all in the table, and written anew with every word quoted,
//! every program by its path, and everything the table adds. The new text is analysed once more
//! before it may run.

mod condition;
mod emit;
mod expansion;
mod reader;
mod simple;
mod word;

use tool::{Action, After, Argv, Step, Streams};

use self::reader::ScriptReader;
use super::{Harmless, Known, table, unknown};
use crate::shell::{Analysis, analyse};

/// Runs scripts. `-p` keeps it from taking functions and files from the environment.
const SHELL: &str = "bash";

/// Says where git is, so that it can be asked what a repository has it run.
const GIT_VARIABLE: &str = "TOOLGATE_GIT";

/// How the line runs as a script, if every command in it is known to be harmless.
pub(super) fn judge_script(line: &str, known: Known<'_>) -> Result<Harmless, String> {
    if !unknown::is_free(line) {
        return Err("it has characters that mean nothing".to_owned());
    }
    if let Analysis::Opaque(opaque) = analyse(line) {
        return Err(format!("it cannot be taken apart: {opaque}"));
    }
    let mut reader = ScriptReader::new(line, known);
    let script = reader.script()?;
    check_again(&script, &reader)?;
    let argv = if let Some(missing) = reader.missing.take() {
        Argv { path: None, words: vec![missing], ..empty() }
    } else {
        let mut env = std::mem::take(&mut reader.env);
        if !reader.finds_programs && !known.trusted.is_empty() {
            env.push(("PATH".to_owned(), known.trusted.join(":")));
        }
        env.extend(reader.git.take().map(|path| (GIT_VARIABLE.to_owned(), path)));
        let words = [SHELL, "-p", "-c", &script, SHELL].map(str::to_owned).to_vec();
        Argv { path: (known.find)(SHELL), words, env, ..empty() }
    };
    Ok(Harmless { steps: vec![Step { after: After::Anything, action: Action::Run(vec![argv]) }] })
}

const fn empty() -> Argv {
    Argv {
        path: None,
        words: Vec::new(),
        env: Vec::new(),
        folder: None,
        streams: Streams {
            input: tool::Inlet::Own,
            output: tool::Outlet::Own,
            errors: tool::Outlet::Own,
        },
    }
}

/// Whether the new text runs nothing but what was judged.
fn check_again(script: &str, reader: &ScriptReader<'_>) -> Result<(), String> {
    // What keeps git from running others is written out of it: it could name programs, and does not.
    let front: Vec<_> = table::GIT_FRONT.iter().map(|word| emit::quoted(word)).collect();
    let front = format!(" {}", front.join(" "));
    let Analysis::Commands(commands) = analyse(&script.replace(&front, "")) else {
        return Err("it cannot be written in a form that is surely harmless".to_owned());
    };
    for command in commands.iter().filter(|command| !command.words.is_empty()) {
        let program = command.program().unwrap_or_default();
        if !reader.programs.contains(program) && !simple::BUILTINS.contains(&program) {
            return Err(format!("`{program}` would run too"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
