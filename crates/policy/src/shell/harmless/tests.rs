use super::{Judgement, Known, harmless, table};

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
