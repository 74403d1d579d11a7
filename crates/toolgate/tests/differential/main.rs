//! Bash is the judge: whatever it runs, `analyse` has listed, or has called the line opaque.
//!
//! `SHELL_TEST_LINES=100000 cargo test -p toolgate --test differential` is the full run; with another
//! `SHELL_TEST_SEED` the lines are others. Bash runs in the sandbox, which is started by this binary
//! executed again, so it has a `main` of its own.
#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on fails"
)]
#![expect(clippy::print_stderr, reason = "the figures of a run")]

mod compare;
mod generate;
mod judge;
mod random;
mod room;
mod seen;
mod soup;
mod tricks;

use std::sync::Arc;

use libtest_mimic::Arguments;

use crate::judge::Judge;

fn main() {
    toolgate::init();
    let arguments = Arguments::from_args();
    let judge = Arc::new(Judge::new());
    let trials = compare::trials(&judge).into_iter().chain(seen::trials(&judge));
    let conclusion = libtest_mimic::run(&arguments, trials.collect());
    if let Some(judge) = Arc::into_inner(judge) {
        judge.close();
    }
    conclusion.exit();
}
