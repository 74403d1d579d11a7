//! Everyday lines that only read do not ask; their dangerous siblings do.
#![expect(clippy::print_stderr, reason = "the figures of the list")]

use policy::shell::{Judgement, Known, harmless};

const EVERYDAY: &str = include_str!("cases/everyday.txt");
const SIBLINGS: &str = include_str!("cases/siblings.txt");

fn judge(line: &str) -> Judgement {
    let find = |name: &str| Some(format!("/usr/bin/{name}"));
    let trusted = ["/usr/bin".to_owned(), "/bin".to_owned()];
    harmless(line, Known { entries: &[], find: &find, trusted: &trusted })
}

fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.is_empty() && !line.starts_with("##"))
}

/// At most one line in twenty asks.
#[test]
fn everyday_lines_do_not_ask() {
    let all: Vec<_> = lines(EVERYDAY).collect();
    let asked: Vec<_> = all
        .iter()
        .filter_map(|line| match judge(line) {
            Judgement::Harmless(_) => None,
            Judgement::Not(why) => Some(format!("{line}: {why}")),
        })
        .collect();
    eprintln!("{} of {} everyday lines ask", asked.len(), all.len());
    assert!(all.len() >= 300, "{}", all.len());
    assert!(
        asked.len() * 20 <= all.len(),
        "{} of {} ask:\n{}",
        asked.len(),
        all.len(),
        asked.join("\n")
    );
}

#[test]
fn their_dangerous_siblings_ask() {
    let harmless: Vec<_> =
        lines(SIBLINGS).filter(|line| matches!(judge(line), Judgement::Harmless(_))).collect();
    assert!(harmless.is_empty(), "{}", harmless.join("\n"));
    assert!(lines(SIBLINGS).count() >= 200);
}
