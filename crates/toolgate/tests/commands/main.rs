//! Commands, end to end: through the gate and through the command line.
//!
//! What starts a command is this binary executed again, so it has a `main` of its own. It is also what
//! tests run in a process of their own (`alone`), where memory, descriptors and variables are counted.
#![expect(
    clippy::disallowed_methods,
    clippy::exit,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "processes are started, and a failed setup should fail the test"
)]

mod advisories;
mod alone;
mod approving;
mod basics;
#[expect(dead_code, reason = "the tests of the command line use all of it")]
#[path = "../cli/helper.rs"]
mod cli;
mod conflicts;
mod day;
mod emergency;
mod environment;
mod harmless;
mod helper;
mod hooks;
mod host_answers;
mod hostile;
mod killing;
mod lifetime;
mod network;
mod output;
mod processes;
mod prompting;
mod protecting;
mod settings;
mod terminal;
mod undoing;
mod within;
mod work;

use libtest_mimic::{Arguments, Trial};

fn main() {
    // One who forgets `init` is tested too.
    if std::env::args().nth(1).as_deref() == Some(alone::WITHOUT_INIT) {
        alone::run();
    }
    toolgate::init();
    if std::env::args().nth(1).as_deref() == Some(alone::ALONE) {
        alone::run();
    }
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(basics::trials());
    trials.extend(undoing::trials());
    trials.extend(conflicts::trials());
    trials.extend(lifetime::trials());
    trials.extend(output::trials());
    trials.extend(environment::trials());
    trials.extend(processes::trials());
    trials.extend(network::trials());
    trials.extend(hooks::trials());
    trials.extend(settings::trials());
    trials.extend(within::trials());
    trials.extend(terminal::trials());
    trials.extend(killing::trials());
    trials.extend(emergency::trials());
    trials.extend(work::trials());
    trials.extend(approving::trials());
    trials.extend(host_answers::trials());
    trials.extend(day::trials());
    trials.extend(prompting::trials());
    trials.extend(advisories::trials());
    trials.extend(harmless::trials());
    trials.extend(protecting::trials());
    trials.extend(hostile::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
