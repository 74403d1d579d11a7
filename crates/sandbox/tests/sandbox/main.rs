//! The sandbox from outside: what works in it, what does not get out of it, and what is left of it.
//!
//! The launcher is this binary executed again, so it has a `main` of its own. It is also what attacks
//! from inside (`attack`), and what runs under a kernel with something missing (`masked`). As root,
//! everything is done twice: the second time by an ordinary user.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_methods,
    clippy::exit,
    reason = "tests may"
)]

mod attacks;
mod bombs;
mod confined;
mod escapes;
mod filling;
mod helper;
mod hosts;
mod leaks;
mod limits;
mod masked;
mod scopes;
mod user;
mod works;

use libtest_mimic::{Arguments, Trial};

fn main() {
    sandbox::init();
    let args: Vec<_> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("abandon") => leaks::run(&args[2..]),
        Some("abandon on host") => hosts::abandon(&args[2..]),
        Some("attack") => attacks::run(&args[2..]),
        Some("masked") => masked::run(&args[2..]),
        Some("fill") => filling::run(&args[2..]),
        Some("scope") => scopes::run(),
        _ => {}
    }
    if std::env::var_os(user::WITHOUT_NAMESPACES).is_some() {
        masked::forbid_namespaces();
    }
    user::wait_for_groups();
    let mut trials: Vec<Trial> = Vec::new();
    trials.extend(works::trials());
    trials.extend(escapes::trials());
    trials.extend(hosts::trials());
    trials.extend(limits::trials());
    trials.extend(bombs::trials());
    trials.extend(masked::trials());
    trials.extend(leaks::trials());
    trials.extend(confined::trials());
    trials.extend(scopes::trials());
    trials.extend(user::trials());
    let arguments = Arguments::from_args();
    let conclusion = libtest_mimic::run(&arguments, trials);
    helper::shut_down();
    conclusion.exit();
}
