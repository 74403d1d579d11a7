//! Whole calls: JSON in, outcome out, through every stage.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a failed setup should fail the test"
)]

mod asking;
mod batch;
mod caching;
mod changes;
mod configuring;
mod helper;
mod hooking;
mod hostile;
mod keeping;
mod outcomes;
mod registry;
mod reloading;
mod sharing;
mod stages;
mod stopping;
mod streaming;
mod trusting;
mod wire;
