//! Many clients at once, and clients that behave badly: what a real server holds for them, and that nothing is
//! left when they are gone.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "real processes are started, a failed setup should fail the test, and figures are printed"
)]

mod client;
mod gone;
#[path = "../clients/http.rs"]
mod http;
mod many;
mod raw;
#[path = "../clients/served.rs"]
#[expect(dead_code, reason = "other tests share it and need more of it")]
mod served;
mod watched;

use libtest_mimic::{Arguments, Trial};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What is usual for a process that was not told otherwise.
const USUAL_OPEN_FILES: u64 = 1_024;

fn main() {
    let args: Vec<_> = std::env::args().collect();
    if args.get(1).is_some_and(|first| first == client::CLIENT) {
        return client::run(args.get(2..).unwrap_or_default());
    }
    // A server must raise it by itself.
    let limit = getrlimit(Resource::Nofile);
    let current =
        limit.maximum.map_or(Some(USUAL_OPEN_FILES), |most| Some(most.min(USUAL_OPEN_FILES)));
    setrlimit(Resource::Nofile, Rlimit { current, ..limit }).unwrap();
    let trials = vec![
        plain("ten_thousand_idle_clients", many::ten_thousand_idle_clients),
        plain("a_server_takes_the_open_files_it_may", many::a_server_takes_the_open_files_it_may),
        plain("who_does_not_read_is_let_go", gone::who_does_not_read_is_let_go),
        plain("what_is_too_large_is_not_kept", gone::what_is_too_large_is_not_kept),
        plain("who_does_not_answer_is_let_go", gone::who_does_not_answer_is_let_go),
        plain("who_vanishes_in_a_call_ends_it", gone::who_vanishes_in_a_call_ends_it),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn plain(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}
