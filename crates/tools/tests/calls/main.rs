//! Whole calls of the built-in tools, each test a sentence.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::disallowed_methods, reason = "no gate here: the test builds the context")]

mod changing;
mod finding;
mod helper;
mod keeping;
mod machine;
mod processes;
mod reading;
mod registry;
mod running;
mod web;
