//! The suite of the protocol's own project judges a server that has our transport, our authentication and our
//! gate, and behind them the tools, resources and prompts that the suite asks for. Clients that people use speak
//! to real processes with real tools.
//!
//! Needs npm, Python 3 and package registries the first time; what is installed is kept in the target folder.
#![expect(clippy::disallowed_methods, reason = "a test runs the programs it needs")]
#![expect(clippy::print_stderr, reason = "whoever waits should see what for")]
#![expect(clippy::unwrap_used, reason = "a failed setup should fail the test")]
#![expect(clippy::indexing_slicing, reason = "what is not there is `null`, and fails the test")]

mod fixture;
mod forward;
#[expect(dead_code, reason = "other tests share it and need more of it")]
#[path = "../clients/http.rs"]
mod http;
mod inspector;
mod packages;
mod person;
mod processes;
mod python;
mod script;
#[path = "../../../provider/tests/sdk/installed.rs"]
mod sdk;
#[expect(dead_code, reason = "other tests share it and need more of it")]
#[path = "../clients/served.rs"]
mod served;
mod site;
mod stdio;
mod suite;
mod tools;

use site::Site;

/// Scenarios that are run for information, and that must pass here nevertheless.
const ALSO_STATELESS: [&str; 3] =
    ["http-header-validation", "http-custom-header-server-validation", "json-schema-2020-12"];
const ALSO_WITH_SESSIONS: [&str; 2] = ["json-schema-2020-12", "server-session-lifecycle"];

#[tokio::test(flavor = "multi_thread")]
async fn the_stateless_revision_is_spoken_as_its_suite_wants() {
    conforms("2026-07-28", 37, &ALSO_STATELESS).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_revision_with_sessions_is_spoken_as_its_suite_wants() {
    conforms("2025-11-25", 30, &ALSO_WITH_SESSIONS).await;
}

async fn conforms(revision: &'static str, required: usize, also: &[&str]) {
    let site = Site::new().await;
    let url = site.url();
    let verdict = tokio::task::spawn_blocking(move || suite::run(&url, revision)).await.unwrap();
    verdict.demand(required, also);
    site.settled().await;
    site.recorded();
}
