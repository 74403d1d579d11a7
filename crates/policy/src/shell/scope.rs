//! How far an answer about a command can reach.

use tool::Run;

use super::{Analysis, Command, analyse, programs::is_far_reaching};

/// What covers this command and others of the same program with the same flags: `None` if an answer
/// must not reach further than the exact command.
///
/// `workspace` is the folder it belongs to: the answer holds in no other.
pub fn program_scope(run: &Run, workspace: &str) -> Option<String> {
    let Run { command, env, secret, .. } = run;
    let Analysis::Commands(commands) = analyse(command) else { return None };
    let [command] = commands.as_slice() else { return None };
    // What touches credentials is asked about each time.
    if !env.is_empty() || secret.is_some() || !is_plain(command) {
        return None;
    }
    let words: Vec<_> = command.words.iter().map(|word| word.literal()).collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    if program.contains('/') || is_far_reaching(program) {
        return None;
    }
    // What looks like the name of a task decides what is done, and so do the words right behind it.
    let mut in_task = true;
    let decides = |word: &&&str| {
        let is_option = decides_alone(word);
        in_task &= is_option || is_task(word);
        is_option || in_task
    };
    let kept = arguments.iter().filter(decides).copied();
    let kept: Vec<_> = std::iter::once(*program).chain(kept).collect();
    let mut around = vec![format!("in {workspace}")];
    around.extend(run.circumstances());
    Some(format!("program:{} ({})", kept.join(" "), around.join(", ")))
}

fn is_plain(command: &Command) -> bool {
    let Command { words, assignments, redirections, joined: _, within } = command;
    let readable = |text: &str| !text.contains(char::is_whitespace) && !text.contains(['(', ')']);
    words.iter().all(|word| word.literal().is_some_and(readable))
        && assignments.is_empty()
        && redirections.is_empty()
        && within.is_empty()
}

/// Options, files of more arguments, and settings.
fn decides_alone(word: &str) -> bool {
    word.starts_with(['-', '+', '@']) || word.contains('=')
}

fn is_task(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    word.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use tool::{Lasting, Place};

    use super::*;

    #[test]
    fn an_answer_reaches_no_further_than_it_says() {
        for (line, expected) in [
            ("mkdir -p build", Some("program:mkdir -p build (in /ws)")),
            ("rm -rf build", None),
            ("systemctl restart web", Some("program:systemctl restart web (in /ws)")),
            ("tool pr list src/a", Some("program:tool pr list (in /ws)")),
            ("tool --fast pr merge 5", Some("program:tool --fast pr merge 5 (in /ws)")),
            ("tool src/a pr", Some("program:tool (in /ws)")),
            ("gcc -c a.c @more", Some("program:gcc -c @more (in /ws)")),
            ("tool a.c +x cc=evil", Some("program:tool +x cc=evil (in /ws)")),
            // A script for `sed` can run programs; what goes out goes to whomever it is told.
            ("sed -i s/a/b/ x.txt", None),
            ("gh pr list", None),
            ("dig secret.example.org", None),
            ("valgrind ./x", None),
            ("prettier --write src/a.ts", Some("program:prettier --write (in /ws)")),
            // exec-023: neither the wrapper nor what it runs.
            ("timeout 5 make", None),
            ("make all", None),
            ("bash -c 'echo hi'", None),
            ("python3.12 x.py", None),
            ("npx x", None),
            ("find . -delete", None),
            ("git push --force", None),
            ("./rm x", None),
            ("rm a; rm b", None),
            ("rm a > b", None),
            ("A=1 rm a", None),
            ("rm $X", None),
            ("rm 'a b'", None),
        ] {
            let scope = program_scope(&Run::new(line), "/ws");
            assert_eq!(scope.as_deref(), expected, "{line}");
        }
        let run = Run { place: Some(Place::Host), lasting: Lasting::Session, ..Run::new("mv a b") };
        let expected = "program:mv a b (in /ws, on host, in the background, where its changes \
                        cannot be undone)";
        assert_eq!(program_scope(&run, "/ws").as_deref(), Some(expected));
        let secret = Run { secret: Some(".env".to_owned()), ..Run::new("tool src/.env") };
        assert_eq!(program_scope(&secret, "/ws"), None);
    }
}
