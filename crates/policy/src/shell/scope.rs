//! How far an answer about a command can reach.

use tool::{Lasting, Place, Reach, Run};

use super::{Analysis, Command, analyse, programs::is_far_reaching};

/// What covers this command and others of the same program with the same flags: `None` if an answer
/// must not reach further than the exact command.
///
/// `workspace` is the folder it belongs to: the answer holds in no other.
pub fn program_scope(run: &Run, workspace: &str) -> Option<String> {
    let Run { command, env, .. } = run;
    let Analysis::Commands(commands) = analyse(command) else { return None };
    let [command] = commands.as_slice() else { return None };
    if !env.is_empty() || !is_plain(command) {
        return None;
    }
    let words: Vec<_> = command.words.iter().map(|word| word.literal()).collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
    if program.contains('/') || is_far_reaching(program) {
        return None;
    }
    // What looks like the name of a task decides what is done.
    let task = arguments.iter().position(|word| !word.starts_with('-'));
    let task = task.filter(|index| arguments.get(*index).is_some_and(|word| is_task(word)));
    let decides = |(index, word): &(usize, &&str)| word.starts_with('-') || Some(*index) == task;
    let kept = arguments.iter().enumerate().filter(decides).map(|(_, word)| *word);
    let kept: Vec<_> = std::iter::once(*program).chain(kept).collect();
    Some(format!("program:{} ({})", kept.join(" "), circumstances(run, workspace)))
}

fn is_plain(command: &Command) -> bool {
    let Command { words, assignments, redirections, joined: _, within } = command;
    let readable = |text: &str| !text.contains(char::is_whitespace) && !text.contains(['(', ')']);
    words.iter().all(|word| word.literal().is_some_and(readable))
        && assignments.is_empty()
        && redirections.is_empty()
        && within.is_empty()
}

fn is_task(word: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    !word.starts_with('-') && word.chars().all(plain)
}

fn circumstances(run: &Run, workspace: &str) -> String {
    let mut all = vec![format!("in {workspace}")];
    if let Some(place) = run.place.filter(|place| *place != Place::Sandbox) {
        all.push(format!("on {place}"));
    }
    match &run.reach {
        Reach::Nobody => {}
        Reach::Hosts(hosts) => all.push(format!("reaching {}", hosts.join(" "))),
        Reach::Everybody => all.push("reaching the whole network".to_owned()),
    }
    if run.lasting == Lasting::Session {
        all.push("in the background".to_owned());
    }
    if run.elevated {
        all.push("elevated".to_owned());
    }
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_reaches_no_further_than_it_says() {
        for (line, expected) in [
            ("mkdir -p build", Some("program:mkdir -p build (in /ws)")),
            ("rm -rf build", None),
            ("sed -i s/a/b/ x.txt", Some("program:sed -i (in /ws)")),
            ("systemctl restart web", Some("program:systemctl restart (in /ws)")),
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
        let expected = "program:mv a (in /ws, on host, in the background)";
        assert_eq!(program_scope(&run, "/ws").as_deref(), Some(expected));
    }
}
