//! What a busy team sends in an hour, in a few minutes: conversations, calls, questions, reloads, and clients that
//! vanish. Every answer is the one that was asked for, nothing is left when they are gone, memory stays flat, and
//! the journal has every call.
//!
//! `TOOLGATE_SOAK_SECONDS` says for how long; `make soak` takes five minutes. `TOOLGATE_SOAK_SEED` does the same again.
#![expect(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a real process is started, an answer that is not expected fails the test, and figures are printed"
)]

mod actions;
mod asking;
mod chat;
#[path = "../../../server/tests/surface/client.rs"]
mod client;
mod end;
mod gone;
mod helper;
mod mcp;
mod memory;
mod people;
mod random;
mod reload;
mod rest;
mod script;
#[path = "../clients/served.rs"]
#[expect(dead_code, reason = "other tests share it and need more of it")]
mod served;
#[path = "../../../server/tests/surface/socket.rs"]
#[expect(dead_code, reason = "other tests share it and need more of it")]
mod socket;
mod sockets;
mod stream;
mod turn;
mod worker;

use std::time::{Duration, SystemTime};

use libtest_mimic::{Arguments, Trial};

/// Without a word about it: enough to see every kind of request.
const SECONDS: u64 = 10;
/// From here on memory is judged, too.
const LONG: u64 = 120;

fn main() {
    let trials = vec![Trial::test("nothing_is_left_of_mixed_traffic", || {
        let runtime = tokio::runtime::Runtime::new()?;
        runtime.block_on(soak(number("TOOLGATE_SOAK_SECONDS").unwrap_or(SECONDS)));
        Ok(())
    })];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

async fn soak(seconds: u64) {
    let seed = number("TOOLGATE_SOAK_SEED").unwrap_or_else(|| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::from(now.subsec_nanos())
    });
    eprintln!("seed {seed}, {seconds} seconds");
    let site = helper::Site::start().await;
    let start = end::Figures::of(&site).await;
    let samples = memory::Samples::of(site.id());
    worker::work(&site, seed, Duration::from_secs(seconds)).await;
    let samples = samples.end();
    site.counted();
    end::is_calm(&site, &start).await;
    samples.show();
    if seconds >= LONG {
        samples.are_flat();
    }
    end::is_in_order(site).await;
}

/// What the environment says.
fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}
