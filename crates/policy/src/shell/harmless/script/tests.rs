use super::super::{Judgement, Known, harmless};

fn judge(line: &str) -> Judgement {
    let find = |name: &str| Some(format!("/usr/bin/{name}"));
    let trusted = ["/usr/bin".to_owned(), "/bin".to_owned()];
    harmless(line, Known { entries: &[], find: &find, trusted: &trusted })
}

fn script(line: &str) -> String {
    match judge(line) {
        Judgement::Harmless(how) => {
            let argv = how.programs().next().unwrap();
            assert_eq!(argv.words.first().map(String::as_str), Some("bash"), "{line}");
            argv.words[3].clone()
        }
        Judgement::Not(why) => panic!("{line}: {why}"),
    }
}

#[test]
fn a_line_is_written_anew() {
    for (line, expected) in [
        ("ls *.md", "/usr/bin/ls -- *.md\n"),
        ("wc -l src/*.rs", "/usr/bin/wc -l src/*.rs\n"),
        ("ls -l $x", "/usr/bin/ls -l -- ${x}\n"),
        ("cat \"$x\" a -n", "/usr/bin/cat -n -- \"${x}\" a\n"),
        ("echo 'a b' $PATH", "/usr/bin/echo 'a b' ${PATH}\n"),
        ("ls | xargs wc -l", "/usr/bin/ls | /usr/bin/xargs /usr/bin/wc -l --\n"),
        (
            "find . -name '*.rs' | xargs -I{} head -1 {}",
            "/usr/bin/find -P . -name '*.rs' | /usr/bin/xargs '-I{}' /usr/bin/head -1 -- '{}'\n",
        ),
        ("find . -exec wc -l {} +", "/usr/bin/find -P . -exec /usr/bin/wc -l -- '{}' '+'\n"),
        ("for f in a b; do cat $f; done", "for f in a b\ndo\n/usr/bin/cat -- ${f}\ndone\n"),
        ("echo {a,b}{1,2}", "/usr/bin/echo a1 a2 b1 b2\n"),
        ("[[ -f a && $x == *.rs ]] && ls", "[[ -f a && ${x} == *.rs ]] && /usr/bin/ls\n"),
        ("echo $(pwd)", "/usr/bin/echo $(\n/usr/bin/pwd\n)\n"),
        ("diff <(ls a) <(ls b)", ""),
    ] {
        let found = script(line);
        if !expected.is_empty() {
            assert_eq!(found, expected, "{line}");
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "one flat table of cases")]
fn dangerous_siblings_are_not_harmless() {
    for line in [
        "for f in *; do rm $f; done",
        "for f in *; do $f; done",
        "for PATH in a b; do ls; done",
        "ls $(touch x)",
        "ls `touch x`",
        "echo ${x:=$(touch x)}",
        "echo ${x@P}",
        "echo ${!x}",
        "echo ${x:-$(touch x)}",
        "echo ${a[$(touch x)]}",
        "echo $((a[$(touch x)]))",
        "x=$(cat a); echo $((x))",
        "[[ $x -eq 1 ]]",
        "[[ $(cat a) -gt 5 ]] && ls",
        "[[ -v x ]]",
        "[[ a =~ $(touch x) ]]",
        "ls | xargs touch",
        "ls | xargs sh -c 'touch x'",
        "ls | xargs -I{} sh -c '{}'",
        "ls | xargs -I{} {} a",
        "ls | xargs sort -o",
        "ls | xargs uniq",
        "ls | xargs find",
        "ls | xargs git log",
        "ls | xargs awk",
        "ls | xargs sed",
        "find . -exec touch {} +",
        "find . -exec sh -c 'touch x' \\;",
        "find . -exec {} \\;",
        "find . -execdir wc {} +",
        "find . -exec wc -l {} + -delete",
        "find $x -name a",
        "find \"$x\" -name a",
        "find * -name a",
        "sort $x -o y",
        "uniq $x",
        "uniq *.txt",
        "tree $x",
        "awk \"$x\" a",
        "awk \"{print $x}\" a",
        "sed \"s/a/$x/\" a",
        "sed -n \"$x\" a",
        "sed -e \"$x\" a",
        "jq \"$x\" a",
        "git log $x",
        "git show \"$x\"",
        "git log -p -- $x -p",
        "head -$x a",
        "head -n $x a",
        "ls -$x",
        "ls --$x",
        "cat ../*",
        "cat /*",
        "cat .*",
        "cat .*/x",
        "cat .e*",
        "cat .env*",
        "cat id_*",
        "cat *.pem",
        "cat ~/a",
        "ls > $x",
        "ls >> x",
        "ls 2> x",
        "cat <<EOF\n$(touch x)\nEOF",
        "cat < $(touch x)",
        "ls &",
        "ls & ls",
        "(ls; touch x)",
        "{ ls; touch x; }",
        "if touch x; then ls; fi",
        "while touch x; do ls; done",
        "for f in $(touch x); do ls; done",
        "f() { ls; }; f",
        "ls() { touch x; }; ls",
        "alias ls=touch; ls x",
        "PATH=. ls",
        "LD_PRELOAD=./x ls",
        "IFS=x; ls",
        "BASH_ENV=x ls",
        "LC_ALL=$(touch x) ls",
        "TZ=:/etc/passwd date",
        "x=5 ls",
        "PAGER=x git log",
        "export x=1; ls",
        "eval ls",
        "source a",
        ". a",
        "exec ls",
        "trap 'touch x' EXIT; ls",
        "timeout 5 touch x",
        "timeout -s KILL 5 ls",
        "nice touch x",
        "stdbuf -oL touch x",
        "time touch x",
        "! touch x",
        "read PATH; ls",
        "read -p x y",
        "read 'a[$(touch x)]'",
        "printf -v x y",
        "diff <(touch x) a",
        "ls >(touch x)",
        "cat <(touch x)",
        "case x in *) touch x;; esac",
        "select x in a; do ls; done",
        "coproc ls",
        "ls |& touch x",
        "echo {-o,x} | sort {-o,x}",
        "sort {-o,x} a",
        "sort -{o,x} a",
        "cd $x && ls",
        "cd src && git status *",
        "tar -tf $x",
        "tar tf a --to-command=\"$x\"",
        "date -d a $x",
        "date \"$x\"",
        "strings $x",
        "env $x",
        "command -v $x",
        "./x*",
        "$x",
        "\"$x\" a",
        "/usr/bin/l? a",
        "l\u{E000}s",
        "cat \u{E000}",
        "awk '{print \"\u{E000}\"}' a",
    ] {
        if let Judgement::Harmless(how) = judge(line) {
            panic!("{line}: {how:?}");
        }
    }
}
