use super::{Judgement, Known, harmless, is_bare, table};

fn judge(line: &str) -> Judgement {
    let find = |name: &str| Some(format!("/usr/bin/{name}"));
    let trusted = ["/usr/bin".to_owned(), "/bin".to_owned()];
    harmless(line, Known { entries: &[], find: &find, trusted: &trusted })
}

#[test]
fn every_entry_behaves_as_its_examples_say() {
    let mut wrong = Vec::new();
    for entry in table::built_in() {
        let (harmless, not) = entry.examples;
        if harmless.is_empty() || not.is_empty() {
            wrong.push(format!("{}: examples are missing", entry.name));
        }
        for line in harmless {
            if let Judgement::Not(reason) = judge(line) {
                wrong.push(format!("{line}: {reason}"));
            }
        }
        wrong.extend(not.iter().filter_map(|line| match judge(line) {
            Judgement::Harmless(how) => Some(format!("{line} is harmless: {how:?}")),
            Judgement::Not(_) => None,
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn input_folders_and_lists_are_harmless_within_the_workspace() {
    for (line, expected) in [
        ("wc -l < a.txt", true),
        ("wc -l <a.txt | cat", true),
        ("wc -l < 'a b.txt' >/dev/null", true),
        ("sort </dev/null", true),
        ("wc -l < ../a", false),
        ("wc -l < /etc/passwd", false),
        ("wc -l < .env", false),
        ("wc -l < $x", true),
        ("wc -l < *.pem", false),
        ("wc -l < ~/a", false),
        ("wc -l < a < b", true),
        ("wc -l < a </dev/null", true),
        ("wc -l <> a", false),
        ("wc -l <<< a", true),
        ("wc -l <&3", false),
        ("wc -l 3< a", false),
        ("wc -l <", false),
        ("wc -l < | cat", false),
        ("cat <(ls)", true),
        ("cd src && ls", true),
        ("cd src/deep; ls; cd x && git status", true),
        ("cd src", true),
        ("cd", false),
        ("cd ..", false),
        ("cd -", false),
        ("cd ~", false),
        ("cd /", false),
        ("cd .ssh && ls", false),
        ("cd a b", false),
        ("cd $x && ls", false),
        ("cd src | ls", true),
        ("ls | cd src", true),
        ("cd src 2>/dev/null && ls", true),
        ("cd src && cat ../a", false),
        ("cd src && make", false),
        ("cd src && ./ls", false),
    ] {
        assert_eq!(
            matches!(judge(line), Judgement::Harmless(_)),
            expected,
            "{line}: {:?}",
            judge(line)
        );
    }
}

#[test]
fn a_long_pipeline_is_not_harmless() {
    let line = |count| vec!["cat"; count].join(" | ");
    assert!(matches!(judge(&line(16)), Judgement::Harmless(_)));
    assert!(matches!(judge(&line(17)), Judgement::Not(_)));
    assert!(matches!(judge(&vec!["ls"; 100].join("; ")), Judgement::Harmless(_)));
}

#[test]
fn what_a_program_runs_is_trusted_too() {
    let Judgement::Harmless(how) = judge("zcat a.gz && which zcat && command -v zcat") else {
        panic!("not harmless")
    };
    let paths: Vec<_> = how
        .programs()
        .map(|argv| argv.env.iter().find(|(name, _)| name == "PATH").map(|(_, path)| path.as_str()))
        .collect();
    assert_eq!(paths, [Some("/usr/bin:/bin"), None, None]);
}

#[test]
fn some_lines_are_harmless_only_with_what_is_added() {
    let known =
        Known { entries: &[], find: &|name| Some(format!("/usr/bin/{name}")), trusted: &[] };
    for (line, expected) in [
        ("ls -la", true),
        ("cat a.txt | wc -l", true),
        ("wc -l a; ls", true),
        ("git status", false),
        ("ls && git log", false),
        ("grep -r x .", false),
        ("sed -n 1p a", false),
        ("make", false),
        ("cd x && ls", false),
        ("ls $(touch x)", false),
        ("", false),
    ] {
        assert_eq!(is_bare(line, known), expected, "{line}");
    }
}
