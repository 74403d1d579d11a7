//! The one place that prints.

use std::fmt::Display;

/// A line of the result, on stdout.
#[expect(clippy::print_stdout, reason = "the one door")]
pub(crate) fn line(text: impl Display) {
    println!("{text}");
}

/// What goes on, on stderr.
#[expect(clippy::print_stderr, reason = "the one door")]
pub(crate) fn note(text: impl Display) {
    eprintln!("{text}");
}
