//! Lines judged harmless start nothing that was not judged, write nothing and read no secret.
//!
//! A generator makes lines for programs with options and languages of their own, most of them with
//! something dangerous in them. Those judged harmless run in a throw-away sandbox in which the
//! workspace can be written, every program that is not judged only writes down that it ran, and
//! secrets are planted.
//!
//! The full run: `HARMLESS_TEST_LINES=1000000 HARMLESS_TEST_RUNS=50000 cargo test -p toolgate --test
//! harmless_lines`; with another `HARMLESS_TEST_SEED` the lines are others. The sandbox is started by
//! this binary executed again, so it has a `main` of its own.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]
#![expect(clippy::print_stderr, reason = "the figures of a run")]

mod generate;
#[path = "../differential/random.rs"]
mod random;
mod room;
mod shell_text;

use std::{
    collections::{BTreeMap, HashSet},
    thread,
};

use libtest_mimic::{Arguments, Trial};
use policy::shell::{Harmless, Judgement, Known, harmless};

use crate::{random::Random, room::Room};

/// Lines judged by default; a part of the full run.
const LINES: usize = 30_000;
/// Harmless lines that run by default.
const RUNS: usize = 1_000;
/// Lines in one sandbox.
const BATCH: usize = 500;

fn main() {
    toolgate::init();
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("the_room_sees_what_it_must", || {
            room_sees();
            Ok(())
        }),
        Trial::test("harmless_lines_start_write_and_leak_nothing", || {
            all_lines();
            Ok(())
        }),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}

#[expect(clippy::disallowed_methods, reason = "how much is tried is the caller's to say")]
fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(usual)
}

/// A line and how it runs.
struct Judged {
    family: &'static str,
    line: String,
    script: String,
    /// Whether every word was known before it ran.
    is_plain: bool,
}

/// A program that is in the room under its own name is found; all others are missing.
fn judge(line: &str) -> Option<Harmless> {
    let find = |name: &str| {
        let name = name.rsplit('/').next().unwrap_or(name);
        room::is_real(name).then(|| format!("/usr/bin/{name}"))
    };
    let trusted = ["/usr/bin".to_owned(), "/bin".to_owned()];
    match harmless(line, Known { entries: &[], find: &find, trusted: &trusted }) {
        Judgement::Harmless(how) => Some(how),
        Judgement::Not(_) => None,
    }
}

/// Planted lines do what the test looks for, so it can fail.
fn room_sees() {
    let room = Room::new();
    let lines = [
        "/usr/bin/touch started",
        "echo x > written",
        "/usr/bin/cat /etc/shadow",
        "/usr/bin/cat /etc/passwd",
        "/usr/bin/git show HEAD:.env",
        "/usr/bin/awk 'BEGIN{system(\"touch x\")}'",
        "/usr/bin/cat a.txt",
    ];
    let lines: Vec<_> = lines.map(str::to_owned).to_vec();
    let seen = room.run(&lines);
    assert_eq!(seen.started.keys().copied().collect::<Vec<_>>(), [0, 5], "{seen:?}");
    assert_eq!(seen.leaked.iter().copied().collect::<Vec<_>>(), [4], "{seen:?}");
    assert_eq!(seen.outside.iter().copied().collect::<Vec<_>>(), [2, 3], "{seen:?}");
    assert!(seen.changed.iter().any(|change| change.contains("written")), "{seen:?}");
    // Files with credentials are hidden there as they are in the sandbox of harmless lines.
    let hidden = room.run(&["/usr/bin/cat .env deploy/server.key".to_owned()]);
    assert!(hidden.leaked.is_empty(), "{hidden:?}");
}

fn all_lines() {
    let (lines, runs) =
        (setting("HARMLESS_TEST_LINES", LINES), setting("HARMLESS_TEST_RUNS", RUNS));
    let seed = setting("HARMLESS_TEST_SEED", 1);
    let workers = thread::available_parallelism().map_or(1, usize::from).min(4);
    let share = lines.div_ceil(workers);
    let found = thread::scope(|scope| {
        let work = |worker: usize| move || judged(seed * 1_000 + worker, share);
        let all: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect::<Vec<_>>()
    });
    let (mut total, mut counts, mut harmless) = (0, BTreeMap::new(), Vec::new());
    for (judged, found) in found {
        for (family, count) in judged {
            total += count;
            *counts.entry(family).or_insert(0) += count;
        }
        harmless.extend(found);
    }
    let mut known = HashSet::new();
    harmless.retain(|one| known.insert(one.line.clone()));
    let mut by_family: BTreeMap<_, usize> = BTreeMap::new();
    for one in &harmless {
        *by_family.entry(one.family).or_default() += 1;
    }
    eprintln!("{total} lines judged, {} different ones harmless: {by_family:?}", harmless.len());
    for (family, count) in &counts {
        let some = by_family.get(family).copied().unwrap_or_default();
        assert!(
            some * 200 >= *count || some > 1_000,
            "of {count} lines for {family} {some} are harmless"
        );
    }
    // Every family has its share of what runs.
    let mut random = Random::new(7);
    for at in (1..harmless.len()).rev() {
        harmless.swap(at, random.below(at + 1));
    }
    harmless.truncate(runs);
    let room = Room::new();
    let mut problems = Vec::new();
    let before = room.snapshot();
    for batch in harmless.chunks(BATCH) {
        let scripts: Vec<_> = batch.iter().map(|one| one.script.clone()).collect();
        let seen = room.run(&scripts);
        for (at, what) in &seen.started {
            problems.push(format!("started {what:?}: {}", batch[*at].line));
        }
        problems.extend(seen.leaked.iter().map(|at| format!("leaked: {}", batch[*at].line)));
        let outside = seen.outside.iter().filter(|at| batch[**at].is_plain);
        problems.extend(outside.map(|at| format!("left the workspace: {}", batch[*at].line)));
        problems.extend(seen.endless.iter().map(|at| format!("did not end: {}", batch[*at].line)));
        if room.snapshot() != before {
            let all: Vec<_> = batch.iter().map(|one| one.line.as_str()).collect();
            problems.push(format!("one of these changed {:?}: {all:#?}", seen.changed));
            break;
        }
    }
    eprintln!("{} harmless lines ran", harmless.len());
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Makes and judges lines. Gives how many of each family, and those that are harmless.
fn judged(seed: usize, lines: usize) -> (BTreeMap<&'static str, usize>, Vec<Judged>) {
    let mut random = Random::new(u64::try_from(seed).unwrap());
    let (mut counts, mut found) = (BTreeMap::new(), Vec::new());
    for _ in 0..lines {
        let (family, line) = generate::line(&mut random);
        *counts.entry(family).or_insert(0) += 1;
        if let Some(how) = judge(&line).filter(|how| how.missing().is_none()) {
            let is_plain =
                how.programs().all(|argv| argv.words.first().is_none_or(|name| name != "bash"));
            found.push(Judged { family, line, script: shell_text::script(&how), is_plain });
        }
    }
    (counts, found)
}
