//! How far an answer about a command can reach.

use tool::{Place, Run};

use super::{Analysis, Command, analyse, programs::is_bounded};

/// The scope that covers this command and others of the same program with the same flags: `None` if an
/// answer must not reach further than the exact command.
///
/// Only programs that are known to run no other code have one, and only in the sandbox, which holds
/// them to the workspace whatever their arguments are. `workspace` is the folder the command belongs
/// to: the answer holds in no other.
pub fn program_scope(run: &Run, workspace: &str) -> Option<String> {
    let Run { command, env, secret, place, elevated, .. } = run;
    if *elevated || place.is_some_and(|place| place != Place::Sandbox) {
        return None;
    }
    let Analysis::Commands(commands) = analyse(command) else { return None };
    let [command] = commands.as_slice() else { return None };
    // What touches credentials is asked about each time.
    if !env.is_empty() || secret.is_some() || !is_plain(command) {
        return None;
    }
    let (program, arguments) = command.words.split_first()?;
    if !is_bounded(program.literal()?, arguments) {
        return None;
    }
    let words: Vec<_> = command.words.iter().map(|word| word.literal()).collect::<Option<_>>()?;
    let (program, arguments) = words.split_first()?;
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
            ("cp -r src/a src/b", Some("program:cp -r (in /ws)")),
            ("tee out/log.txt", Some("program:tee (in /ws)")),
            ("ls src/a pr", Some("program:ls (in /ws)")),
            ("sort -u a.txt", Some("program:sort -u (in /ws)")),
            ("touch a.c +x cc=evil", Some("program:touch +x cc=evil (in /ws)")),
            // Destroys what it is given, whatever that is.
            ("rm -rf build", None),
            ("truncate -s 0 a.txt", None),
            ("dd if=a of=b", None),
            // An option names a program, also abbreviated.
            ("sort --compress-program=./x a", None),
            ("sort --comp=./x a", None),
            ("split --filter=./x a", None),
            ("printf -v PATH .", None),
            ("./cp a b", None),
            ("/usr/bin/cp a b", None),
            ("rm a; rm b", None),
            ("cp a b > c", None),
            ("A=1 cp a b", None),
            ("cp $X b", None),
            ("cp 'a b' c", None),
        ] {
            let scope = program_scope(&Run::new(line), "/ws");
            assert_eq!(scope.as_deref(), expected, "{line}");
        }
        let run = Run { lasting: Lasting::Session, ..Run::new("mv a b") };
        let expected =
            "program:mv a b (in /ws, in the background, where its changes cannot be undone)";
        assert_eq!(program_scope(&run, "/ws").as_deref(), Some(expected));
        let secret = Run { secret: Some(".env".to_owned()), ..Run::new("cp src/.env x/y") };
        assert_eq!(program_scope(&secret, "/ws"), None);
    }

    /// Nothing keeps the arguments in the workspace there.
    #[test]
    fn outside_the_sandbox_an_answer_is_for_the_exact_command() {
        for line in ["tee .envrc", "cp in.txt /abs/outside", "cp in.txt ../o", "mkdir x", "ls"] {
            let host = Run { place: Some(Place::Host), ..Run::new(line) };
            assert_eq!(program_scope(&host, "/ws"), None, "{line}");
            let elevated = Run { elevated: true, ..Run::new(line) };
            assert_eq!(program_scope(&elevated, "/ws"), None, "{line}");
        }
    }

    /// What is not known to run nothing else is taken to run something else.
    #[test]
    fn programs_that_may_run_code_are_asked_about_each_time() {
        for line in [
            "gmake all",
            "make all",
            "runghc x.hs",
            "guile x.scm",
            "sbcl --script x",
            "racket x",
            "ocaml x.ml",
            "clisp x",
            "nix-shell x",
            "guix shell",
            "flatpak run x",
            "adb shell x",
            "zig run x.zig",
            "nim c x",
            "crystal x.cr",
            "v run x.v",
            "dart run x",
            "ip netns exec a b",
            "jest",
            "vitest",
            "ctest",
            "claude -p x",
            "codex x",
            "aider x",
            "toolgate call exec",
            "systemctl restart web",
            "gcc -c a.c",
            "prettier --write src/a.ts",
            "sed -i s/a/b/ x.txt",
            "gh pr list",
            "dig secret.example.org",
            "valgrind ./x",
            "timeout 5 make",
            "bash -c 'echo hi'",
            "python3.12 x.py",
            "npx x",
            "find . -delete",
            "git push --force",
            "patch -p1",
            "zip -T x.zip a",
            "tar xf a.tar",
            "less a",
            "env ls",
            "some-tool-of-tomorrow a",
        ] {
            assert_eq!(program_scope(&Run::new(line), "/ws"), None, "{line}");
        }
    }
}
