//! `grep` beside ripgrep on the same tree.

use std::{fmt::Write as _, fs, io, path::Path, process::Command, time::Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use store::Journal;
use toolgate::{Caller, Gate, Outcome, builtin};

use super::{
    Row,
    measure::{Times, progress, ratio},
};

const FOLDERS: usize = 400;
const FILES: usize = 100;
const ROUNDS: u64 = 9;
const PATTERN: &str = "needle_[0-9]+";

/// Searches 40,000 files with both, in turn, and compares what they found.
pub(super) async fn tree() -> Result<Row> {
    let folder = tempfile::tempdir()?;
    let root = folder.path().join("tree");
    let bar = progress("grep.tree: files", FOLDERS as u64);
    for number in 0..FOLDERS {
        make_folder(&root, number).context("cannot make the tree to search")?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let gate = Gate::builder()
        .data(folder.path().join("data"))
        .workspace(&root)
        .tools(builtin())
        .journal(Journal::null())
        .build()?;
    let (mut ours, mut theirs) = (Times::default(), Times::default());
    let mut note = None;
    let bar = progress("grep.tree", ROUNDS + 1);
    for round in 0..=ROUNDS {
        let start = Instant::now();
        let found = our_matches(&gate).await?;
        let our_time = start.elapsed();
        let start = Instant::now();
        let expected = ripgrep(&root);
        let their_time = start.elapsed();
        match expected {
            Ok(expected) => {
                ensure!(found == expected, "grep found {found} lines, ripgrep {expected}");
            }
            Err(_) => note = Some("no ripgrep (`rg`) on this machine".to_owned()),
        }
        // The first round only fills the caches.
        if round > 0 {
            ours.add(our_time);
            theirs.add(their_time);
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let ((median_ns, p99_ns), (baseline, _)) = (ours.summary(), theirs.summary());
    let ratio = note.is_none().then(|| ratio(median_ns, baseline));
    Ok(Row { name: "grep.tree", median_ns, p99_ns, baseline: Some("rg"), ratio, note })
}

fn make_folder(root: &Path, number: usize) -> io::Result<()> {
    let folder = root.join(format!("{:02}/{number:03}", number % 20));
    fs::create_dir_all(&folder)?;
    for file in 0..FILES {
        let mut text = String::with_capacity(2_500);
        for line in 0..40 {
            let _ = writeln!(
                text,
                "line {line} of file {file} in folder {number}: some plain text to read"
            );
        }
        if file % 50 == 0 {
            let _ = writeln!(text, "here is needle_{number} in the hay");
        }
        fs::write(folder.join(format!("file_{file}.txt")), text)?;
    }
    Ok(())
}

/// How many lines our tool finds.
async fn our_matches(gate: &Gate) -> Result<usize> {
    let args = json!({"pattern": PATTERN, "mode": "count", "limit": 10_000});
    let outcome = gate.call(&Caller::owner("bench"), "grep", args).await;
    let Outcome::Success { result, .. } = &outcome else {
        anyhow::bail!("grep failed: {outcome:?}")
    };
    let matches = result.get("matches").and_then(Value::as_u64);
    let matches = matches.context("grep did not say how many lines match")?;
    Ok(usize::try_from(matches)?)
}

/// How many lines ripgrep finds.
#[expect(clippy::disallowed_methods, reason = "a benchmark runs the program it compares with")]
fn ripgrep(root: &Path) -> Result<usize> {
    let output = Command::new("rg").args(["--count", PATTERN]).arg(root).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let counts = text.lines().filter_map(|line| line.rsplit(':').next()?.parse::<usize>().ok());
    Ok(counts.sum())
}
