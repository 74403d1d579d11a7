//! What holds for any line at all.

use policy::shell::{Analysis, Known, Word, analyse, harmless};
use proptest::prelude::*;

/// What shells care about, so that chance finds it.
const SOUP: &str = "([a-c ]|'|\"|`|\\$|\\(|\\)|\\{|\\}|\\[|\\]|<|>|\\||&|;|\n|\\\\|#|=|!|\\*|~|é|\u{a0}|\u{0}){0,60}";

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

proptest! {
    #[test]
    fn any_line_is_judged(line in ".*", soup in SOUP) {
        for line in [line, soup] {
            let known = Known { entries: &[], find: &|_| None, trusted: &[] };
            prop_assert_eq!(analyse(&line), analyse(&line));
            prop_assert_eq!(harmless(&line, known), harmless(&line, known));
        }
    }

    #[test]
    fn what_is_quoted_comes_back(words in prop::collection::vec("[ -~é\n]*", 0..6)) {
        let line = words.iter().fold("prog".to_owned(), |line, word| line + " " + &quoted(word));
        let found = match analyse(&line) {
            Analysis::Commands(found) => found,
            // A backslash before the end of a line is not looked at more closely.
            Analysis::Opaque(_) if line.contains("\\\n") => return Ok(()),
            Analysis::Opaque(why) => panic!("{line:?}: {why}"),
        };
        prop_assert_eq!(found.len(), 1);
        let literals: Vec<_> = found.iter().flat_map(|one| &one.words).skip(1).map(Word::literal).collect();
        let expected: Vec<_> = words.iter().map(|word| Some(word.as_str())).collect();
        prop_assert_eq!(literals, expected);
    }
}

#[test]
fn what_is_too_much_is_opaque() {
    let nested =
        |open: &str, close: &str| format!("{}a{}", open.repeat(30_000), close.repeat(30_000));
    let lines = [
        nested("$(", ")"),
        nested("(", ")"),
        nested("{ ", ";}"),
        nested("\"$(", ")\""),
        nested("${x:-", "}"),
        nested("eval ", ""),
        nested("if ", ""),
        "a ".repeat(40_000),
        "a;".repeat(2_000),
        "`".repeat(999),
        "((".repeat(5_000),
        "<<E ".repeat(5_000),
        "a\u{0}b".to_owned(),
        "a\rb".to_owned(),
        "a\u{a0}b".to_owned(),
        "env ".repeat(30) + "a",
    ];
    for line in lines {
        let start: String = line.chars().take(20).collect();
        assert!(matches!(analyse(&line), Analysis::Opaque(_)), "{start:?}");
    }
}

/// Bash evaluates what variables hold in these, and what they hold can run commands; or it reads them
/// in a way of its own.
const OPAQUE: &[&str] = &[
    "echo $((x))",
    "echo $((a[$(b)]))",
    "((x++))",
    "read x; echo $((x + 1))",
    "x='a[$(b)]'; echo $((x))",
    "[[ $x -eq 1 ]]",
    "[[ 'a[$(b)]' -eq 0 ]]",
    "[[ -v $x ]]",
    "[ -v \"$x\" ]",
    "test $x",
    "let x",
    "echo ${!x}",
    "echo ${x@P}",
    "echo ${a[$x]}",
    "a[$x]=1",
    "declare -i x",
    "declare -n x=y",
    "declare \"$x\"",
    "declare -a 'x=($(b))'",
    "x=(1); declare x=$y",
    "printf -v 'a[$(b)]' x",
    "printf \"$x\" y",
    "read 'a[$(b)]'",
    "unset 'a[$(b)]'",
    "mapfile -C b x",
    "eval \"$x\"",
    "$x a",
    "a=b; $a",
    "*",
    "{a,b}",
    "source x",
    ". x",
    "bash x",
    "bash",
    "a | sh",
    "sh <<E\na\nE",
    "bash -i -c a",
    "bash -O extglob -c a",
    "alias a=b",
    "shopt -s expand_aliases",
    "hash -p x ls",
    "enable -f x y",
    "PATH=. a",
    "BASH_ENV=x bash -c a",
    "env BASH_ENV=x bash -c a",
    "env -S 'a b'",
    "env $x a",
    "PS4='$(b)'; set -x",
    "BASH_CMDS[ls]=x",
    "xargs sh",
    "xargs -I{} sh -c 'a {}'",
    "find . -exec $x \\;",
    "find $x",
    "ssh host a",
    "parallel a",
    "coproc a",
    "trap \"$x\" EXIT",
    "a @(b|c)",
    "echo $\\\n(b)",
    "cat <<$x\na\n$x",
    "cat <<E\\\nF\na\nEF",
    "git -c core.pager=x log",
    "RANDOM='a[$(b)]'",
    "a >&\"\\$(b)\"",
    "a >&$x",
    "x >&-rm y",
    // Bash 5.2 loses the semicolon of this one.
    "a $(time -p b <<'E'\nx\nE\nc;time -p d)",
    "for RANDOM in $x; do :; done",
    "read OPTIND",
    "export HISTCMD=$x",
    "sh -c '((a))'",
    "sh -c \"echo $'a\\'; b #'\"",
    "sh -c '[[ x == y && a ]]'",
    "dash -c 'time a'",
    "bash --posix -c a",
];

#[test]
fn what_evaluates_data_is_opaque() {
    for line in OPAQUE {
        assert!(matches!(analyse(line), Analysis::Opaque(_)), "{line:?}: {:?}", analyse(line));
    }
}

#[test]
fn what_people_write_is_taken_apart() {
    for (line, expected) in [
        ("git commit -m \"$(cat <<'EOF'\nAdd x\n\nBody (y)\nEOF\n)\"", "cat git"),
        ("while IFS= read -r x; do echo \"$x\"; done < a", "read echo"),
        ("for f in *.rs; do wc -l \"$f\"; done", "wc"),
        ("cd src && cargo test 2>&1 | tail -20", "cd cargo tail"),
        ("export A=b; make -j$(nproc)", "export nproc make"),
        ("if [ -f a ]; then cat a; fi", "[ cat"),
        ("find . -name '*.rs' -exec grep -l x {} +", "find grep"),
        ("ls | xargs -n1 basename", "ls xargs basename"),
        ("cat > a <<'EOF'\n$(not run)\nEOF\nchmod +x a", "cat chmod"),
        ("(cd a && ls) || true", "cd ls true"),
        ("timeout 10 bash -lc 'npm test'", "timeout bash npm"),
        ("i=0; while ((i < 3)); do a $((i + 1)); i=$((i + 1)); done", "a"),
        ("set -euo pipefail; a", "set a"),
        ("f() { local x=$1; a \"$x\"; }; f b", "local a f"),
        ("case $1 in start) a;; *) b;; esac", "a b"),
        ("A=1 B=2 env C=3 a", "env a"),
        ("a <(sort b) <(sort c)", "sort sort a"),
        ("echo \"${x:-$(date)}\"", "date echo"),
        ("a <<E <<F | b\n$(c)\nE\n`d`\nF\ne", "a b c d e"),
        (">&-rm y", "rm"),
        ("echo {\u{1f574} é{\u{10ffff}", "echo"),
        ("a && { b; c; } & wait", "a b c wait"),
    ] {
        let Analysis::Commands(found) = analyse(line) else {
            panic!("{line}: {:?}", analyse(line))
        };
        let found: Vec<_> = found.iter().filter_map(|one| one.program()).collect();
        assert_eq!(found.join(" "), expected, "{line}");
    }
}
