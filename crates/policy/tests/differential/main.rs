//! Bash is the judge: whatever it runs, `analyse` has listed, or has called the line opaque.
//!
//! `SHELL_TEST_LINES=100000 cargo test -p policy --test differential` is the full run; with another
//! `SHELL_TEST_SEED` the lines are others.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::expect_used, reason = "a test that cannot go on fails")]
#![expect(clippy::indexing_slicing, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "the figures of a run")]

mod bash;
mod generate;
mod random;
mod soup;

use policy::shell::{Analysis, Command, Value, Word, analyse};

use crate::{bash::Ran, random::Random};

/// Lines by default; a part of what the full run takes.
const LINES: usize = 3_000;
/// Lines in one process.
const BATCH: usize = 500;

/// How many lines, and where chance starts.
fn size() -> (usize, u64) {
    #[expect(clippy::disallowed_methods, reason = "switches for the full run")]
    let wanted = |name| std::env::var(name).ok().and_then(|wanted| wanted.parse::<u64>().ok());
    let lines = wanted("SHELL_TEST_LINES").and_then(|lines| usize::try_from(lines).ok());
    (lines.unwrap_or(LINES), wanted("SHELL_TEST_SEED").unwrap_or_default())
}

/// Whether `ran` is what `command` becomes.
fn is(command: &Command, ran: &Ran) -> bool {
    let words: Vec<_> = command.words.iter().collect();
    matches(&words, &ran.words)
}

fn matches(words: &[&Word], ran: &[String]) -> bool {
    let Some((word, words)) = words.split_first() else { return ran.is_empty() };
    match (&word.value, ran.split_first()) {
        (Value::Literal(text), Some((first, rest))) => text == first && matches(words, rest),
        (Value::One, Some((_, rest))) => matches(words, rest),
        (Value::Any, _) => (0..=ran.len()).any(|skip| matches(words, &ran[skip..])),
        (Value::Literal(_) | Value::One, None) => false,
    }
}

/// Runs lines of `make` and gives back how many of them were opaque, and how many commands ran.
fn compare(count: usize, seed: u64, make: impl Fn(&mut Random) -> String) -> (usize, usize) {
    let mut random = Random::new(seed);
    let lines: Vec<_> = (0..count).map(|_| make(&mut random)).collect();
    let (mut opaque, mut ran_in_all, mut wrong) = (0, 0, Vec::new());
    for batch in lines.chunks(BATCH) {
        let ran = bash::run(batch);
        ran_in_all += ran.len();
        let found: Vec<_> = batch.iter().map(|line| analyse(line)).collect();
        for ran in &ran {
            if let Analysis::Commands(commands) = &found[ran.line]
                && !commands.iter().any(|command| is(command, ran))
            {
                wrong.push(format!("{:?} ran {:?}", batch[ran.line], ran.words));
            }
        }
        opaque += found.iter().filter(|one| matches!(one, Analysis::Opaque(_))).count();
    }
    assert!(wrong.is_empty(), "{} not listed:\n{}", wrong.len(), first(&wrong));
    (opaque, ran_in_all)
}

fn first(wrong: &[String]) -> String {
    let mut shortest = wrong.to_vec();
    shortest.sort_by_key(String::len);
    shortest.truncate(25);
    shortest.join("\n")
}

#[test]
fn bash_runs_nothing_that_is_not_listed() {
    let (lines, seed) = size();
    let count = lines / 2;
    let (opaque, ran) = compare(count, seed.wrapping_mul(2).wrapping_add(1), generate::line);
    eprintln!("{count} lines from a grammar: {opaque} opaque, {ran} commands ran");
    assert!(ran > count, "only {ran} commands ran");
    assert!(opaque * 3 < count, "{opaque} of {count} are opaque");
}

#[test]
fn bash_runs_nothing_that_is_not_listed_in_nonsense_either() {
    let (lines, seed) = size();
    let count = lines / 2;
    let (opaque, ran) = compare(count, seed.wrapping_mul(2).wrapping_add(2), soup::line);
    eprintln!("{count} lines of nonsense: {opaque} opaque, {ran} commands ran");
    assert!(ran > count / 10, "only {ran} commands ran");
}
