//! What it costs to find a tool in a caller's view.

use std::{hint::black_box, time::Instant};

use anyhow::{Result, ensure};
use gate::Found;
use store::Journal;
use toolgate::{Caller, Gate};

use super::{
    Row, gates,
    measure::{Times, progress},
};

const ROUNDS: u64 = 2_000;
/// One lookup is shorter than the clock can tell.
const LOOKUPS: u32 = 100;

/// Taking the view of a caller and finding a tool in it, among ten and among ten thousand, in turn.
pub(super) fn lookups() -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let few = gates::gate(folder.path(), Some(Journal::null()), 10)?;
    let many = gates::gate(folder.path(), Some(Journal::null()), 10_000)?;
    let (mut few_times, mut many_times) = (Times::default(), Times::default());
    let bar = progress("policy.view_10000", ROUNDS);
    for round in 0..=ROUNDS {
        let (few, many) = (lookup(&few)?, lookup(&many)?);
        // The first works the views out.
        if round > 0 {
            few_times.add(few);
            many_times.add(many);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let few = Row::new("policy.view_10", few_times);
    let many = Row::new("policy.view_10000", many_times).against("policy.view_10", &few);
    Ok(vec![few, many])
}

/// The time of one.
fn lookup(gate: &Gate) -> Result<std::time::Duration> {
    let caller = Caller::owner("bench");
    let start = Instant::now();
    let mut found = 0;
    for number in 0..LOOKUPS {
        let name = NAMES.get(number as usize % NAMES.len()).copied().unwrap_or_default();
        let view = gate.view(black_box(&caller));
        found += u32::from(matches!(view.find(black_box(name)), Found::Tool(_)));
    }
    let time = start.elapsed() / LOOKUPS;
    ensure!(found == LOOKUPS, "{found} of {LOOKUPS} lookups found their tool");
    Ok(time)
}

/// In both gates.
const NAMES: [&str; 5] = ["other_0", "other_3", "other_5", "other_7", "noop"];
