//! `schemathesis` tries what the description of the API allows, and what it does not.

use std::{path::Path, process::Command};

use crate::{installed::Result, served::Served};

/// Cases for each operation.
const CASES: &str = "15";
/// What it looks for: faults of ours, and answers that are not described.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,\
                      response_schema_conformance";

pub(crate) async fn described(schemathesis: &Path) -> Result<()> {
    let server = Served::new("[limits]\napproval_timeout = \"1s\"\n");
    let mut command = Command::new(schemathesis);
    command
        .arg("run")
        .arg(format!("{}/openapi.json", server.base))
        .args(["--checks", CHECKS, "--max-examples", CASES, "--seed", "1", "--workers", "1"])
        .args(["--request-timeout", "30", "--phases", "examples,coverage,fuzzing"])
        .args(["--header", &format!("Authorization: Bearer {}", server.token)])
        .current_dir(server.data());
    let done = tokio::task::spawn_blocking(move || command.output()).await??;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stdout);
    Err(format!("{said}\n{}", server.log()).into())
}
