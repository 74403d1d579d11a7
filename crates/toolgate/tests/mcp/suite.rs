//! The suite: how it is started and understood.

use std::{collections::BTreeMap, fs, path::Path, process::Output};

use serde_json::Value;
use tempfile::TempDir;

use crate::packages::{node, package};

/// Longer than any scenario takes, also on a machine that does much else, in milliseconds.
const PATIENCE: &str = "120000";
/// What follows the name of a scenario in the name of its folder: a dash and the time.
const TIME: usize = "-2026-07-28T00-00-00-000Z".len();

/// What the suite found.
pub(crate) struct Verdict {
    revision: &'static str,
    /// The scenarios that every server of the revision must pass.
    required: Vec<String>,
    /// The checks of each scenario that ran.
    checks: BTreeMap<String, Vec<Value>>,
    output: Output,
}

/// Runs what a revision requires against a server.
pub(crate) fn run(url: &str, revision: &'static str) -> Verdict {
    let suite = package("@modelcontextprotocol/conformance");
    let results = TempDir::new().unwrap();
    let output = node(&suite.join("dist/index.js"))
        .args(["server", "--url", url, "--requirements", revision, "--timeout", PATIENCE, "-o"])
        .arg(results.path())
        .current_dir(results.path())
        .output()
        .unwrap();
    let required = fs::read_to_string(suite.join(format!("requirements/{revision}.yaml"))).unwrap();
    let required = required.lines().skip_while(|line| *line != "server:").skip(1);
    let required =
        required.map_while(|line| line.strip_prefix("  - ")).map(str::to_owned).collect();
    Verdict { revision, required, checks: checks(results.path()), output }
}

impl Verdict {
    /// Demands that nothing is wrong in any of the scenarios that are required, of which there must be
    /// `required`, nor in those of `also`.
    pub(crate) fn demand(&self, required: usize, also: &[&str]) {
        let Self { revision, output, .. } = self;
        let said = String::from_utf8_lossy(&output.stdout);
        let summary = said.split_once("=== SUMMARY ===").map_or(&*said, |(_, summary)| summary);
        eprintln!("{revision}:{summary}");
        let demanded: Vec<_> =
            self.required.iter().map(String::as_str).chain(also.iter().copied()).collect();
        let wrong: Vec<_> = demanded.iter().flat_map(|name| self.wrong(name)).collect();
        assert!(wrong.is_empty(), "{revision}:\n{}", wrong.join("\n"));
        assert_eq!(self.required.len(), required, "{revision}");
        let failed = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{revision}: {}\n{failed}", output.status);
        let passed = self.required.len();
        eprintln!("{revision}: {passed} required scenarios pass, and of the others {also:?}");
    }

    /// What is wrong in a scenario. A warning is wrong, too: it is about what a server should do.
    fn wrong(&self, scenario: &str) -> Vec<String> {
        let Some(checks) = self.checks.get(scenario) else {
            return vec![format!("{scenario} did not run")];
        };
        let wrong = checks
            .iter()
            .filter(|check| check["status"] == "FAILURE" || check["status"] == "WARNING");
        let wrong = wrong.map(|check| format!("{scenario}: {check:#}"));
        let none = checks.iter().all(|check| check["status"] != "SUCCESS");
        wrong.chain(none.then(|| format!("{scenario} checked nothing"))).collect()
    }
}

/// The checks of every scenario, by its name.
fn checks(results: &Path) -> BTreeMap<String, Vec<Value>> {
    let folders = fs::read_dir(results).unwrap().map(|folder| folder.unwrap());
    let scenario = |folder: fs::DirEntry| {
        let name = folder.file_name().into_string().unwrap();
        let name = name.strip_prefix("server-")?;
        let name = name.get(..name.len().checked_sub(TIME)?)?.to_owned();
        let checks = fs::read_to_string(folder.path().join("checks.json")).unwrap();
        Some((name, serde_json::from_str(&checks).unwrap()))
    };
    folders.filter_map(scenario).collect()
}
