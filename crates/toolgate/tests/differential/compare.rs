//! Compares what was listed with what ran.

use std::{
    path::{Component, Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use libtest_mimic::Trial;
use policy::shell::{Analysis, Command, Value, Word, analyse};

use crate::{
    generate,
    judge::{Judge, Ran, Verdict},
    random::Random,
    room::FOLDERS,
    soup, tricks,
};

/// Lines by default; a part of what the full run takes.
const LINES: usize = 3_000;
/// Lines in one process.
const BATCH: usize = 500;

/// Far more than a line takes that ends. On a machine so busy that one takes longer, less is compared.
const PATIENCE: Duration = Duration::from_secs(2);

/// A way to make lines.
struct Kind {
    name: &'static str,
    what: &'static str,
    make: fn(&mut Random) -> String,
    /// One of so many lines is of this kind.
    share: usize,
    /// So many commands run for a hundred lines, at least.
    runs: usize,
    /// So many of a hundred lines are opaque, at most.
    opaque: usize,
}

const KINDS: &[Kind] = &[
    Kind {
        name: "bash_runs_nothing_that_is_not_listed",
        what: "lines from a grammar",
        make: generate::line,
        share: 3,
        runs: 100,
        opaque: 33,
    },
    Kind {
        name: "bash_runs_nothing_that_is_not_listed_in_nonsense_either",
        what: "lines of nonsense",
        make: soup::line,
        share: 3,
        runs: 10,
        opaque: 100,
    },
    Kind {
        name: "bash_runs_nothing_that_is_not_listed_in_unusual_ways",
        what: "lines of tricks",
        make: tricks::line,
        share: 3,
        runs: 50,
        opaque: 90,
    },
];

pub(crate) fn trials(judge: &Arc<Judge>) -> Vec<Trial> {
    let trial = |(number, kind): (u64, &'static Kind)| {
        let judge = Arc::clone(judge);
        Trial::test(kind.name, move || {
            kind.compare(&judge, number);
            Ok(())
        })
    };
    (1..).zip(KINDS).map(trial).collect()
}

/// How many lines, and where chance starts.
fn size() -> (usize, u64) {
    #[expect(clippy::disallowed_methods, reason = "switches for the full run")]
    let wanted = |name| std::env::var(name).ok().and_then(|wanted| wanted.parse::<u64>().ok());
    let lines = wanted("SHELL_TEST_LINES").and_then(|lines| usize::try_from(lines).ok());
    (lines.unwrap_or(LINES), wanted("SHELL_TEST_SEED").unwrap_or_default())
}

/// What was seen of some lines.
#[derive(Default)]
struct Tally {
    opaque: usize,
    ran: usize,
    endless: usize,
    wrong: Vec<String>,
}

impl Kind {
    fn compare(&self, judge: &Judge, number: u64) {
        let (lines, seed) = size();
        let (count, began) = (lines.div_ceil(self.share), Instant::now());
        let mut random = Random::new(seed.wrapping_mul(8).wrapping_add(number));
        let lines: Vec<_> = (0..count).map(|_| (self.make)(&mut random)).collect();
        let mut tally = Tally::default();
        for batch in lines.chunks(BATCH) {
            tally.add(batch, judge.run(batch, PATIENCE));
        }
        let Tally { opaque, ran, endless, wrong } = tally;
        eprintln!(
            "{count} {}: {opaque} opaque, {ran} commands ran, {endless} not compared because they did \
             not end, {} not listed, {:.0?}",
            self.what,
            wrong.len(),
            began.elapsed()
        );
        assert!(wrong.is_empty(), "{} not listed:\n{}", wrong.len(), first(&wrong));
        // What is not compared proves nothing.
        assert!(endless * 50 <= count, "{endless} of {count} did not end");
        assert!(ran * 100 >= count * self.runs, "only {ran} commands ran");
        assert!(opaque * 100 <= count * self.opaque, "{opaque} of {count} are opaque");
    }
}

impl Tally {
    fn add(&mut self, lines: &[String], verdict: Verdict) {
        let Verdict { ran, endless } = verdict;
        let found: Vec<_> = lines.iter().map(|line| analyse(line)).collect();
        for ran in &ran {
            if let Analysis::Commands(commands) = &found[ran.line]
                && !commands.iter().any(|command| is(command, ran))
            {
                self.wrong.push(format!("{:?} ran {:?}", lines[ran.line], ran.words));
            }
        }
        self.opaque += found.iter().filter(|one| matches!(one, Analysis::Opaque(_))).count();
        self.ran += ran.len();
        self.endless += endless;
    }
}

/// Whether `ran` is what `command` becomes.
fn is(command: &Command, ran: &Ran) -> bool {
    let (Some((program, words)), Some((name, rest))) =
        (command.words.split_first(), ran.words.split_first())
    else {
        return false;
    };
    let words: Vec<_> = words.iter().collect();
    program.literal().is_none_or(|program| is_program(program, name)) && matches(&words, rest)
}

/// Whether executing `program` is what executed the file `ran`.
fn is_program(program: &str, ran: &str) -> bool {
    let parts =
        |path| Path::new(path).components().filter(|part| matches!(part, Component::Normal(_)));
    let parts = |path| parts(path).collect::<PathBuf>();
    if program.contains('/') {
        // `exec` names the folder it is in, too.
        return program == ran || (ran.starts_with("./") && parts(ran).ends_with(parts(program)));
    }
    // Without `PATH` a name is looked up in the usual folders.
    program == ran || FOLDERS.iter().any(|folder| Path::new(folder).join(program) == Path::new(ran))
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

fn first(wrong: &[String]) -> String {
    let mut shortest = wrong.to_vec();
    shortest.sort_by_key(String::len);
    shortest.truncate(25);
    shortest.join("\n")
}
