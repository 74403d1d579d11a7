//! `grep` beside ripgrep on the same tree.

use std::{
    collections::BTreeSet, fmt::Write as _, fs, io, path::Path, process::Command, time::Instant,
};

use anyhow::{Context as _, Result, bail, ensure};
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
        let outcome = gate.call(&Caller::owner("bench"), "grep", arguments()).await;
        let our_time = start.elapsed();
        let start = Instant::now();
        let output = ripgrep(&root);
        let their_time = start.elapsed();
        match output {
            Ok(output) => {
                let (ours, theirs) = (our_matches(&outcome)?, their_matches(&output, &root));
                ensure!(ours == theirs, "{} lines found, {} by rg", ours.len(), theirs.len());
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
    let (name, bytes, baseline) = ("grep.tree".into(), None, Some("rg"));
    Ok(Row { name, median_ns, p99_ns, bytes, baseline, ratio, note })
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

fn arguments() -> Value {
    json!({"pattern": PATTERN, "limit": 10_000})
}

/// A file and the number of a line in it.
type Place = (String, u64);

/// What our tool found.
fn our_matches(outcome: &Outcome) -> Result<BTreeSet<Place>> {
    let Outcome::Success { result, .. } = outcome else { bail!("grep failed: {outcome:?}") };
    let matches = result.get("matches").and_then(Value::as_array);
    let place = |found: &Value| {
        Some((found.get("path")?.as_str()?.to_owned(), found.get("line")?.as_u64()?))
    };
    Ok(matches.into_iter().flatten().filter_map(place).collect())
}

/// What ripgrep found, from `PATH:LINE:TEXT`.
fn their_matches(output: &str, root: &Path) -> BTreeSet<Place> {
    let root = format!("{}/", root.display());
    let place = |line: &str| {
        let mut parts = line.strip_prefix(&root)?.splitn(3, ':');
        Some((parts.next()?.to_owned(), parts.next()?.parse().ok()?))
    };
    output.lines().filter_map(place).collect()
}

#[expect(clippy::disallowed_methods, reason = "a benchmark runs the program it compares with")]
fn ripgrep(root: &Path) -> io::Result<String> {
    let options = ["--line-number", "--no-heading", "--color=never", PATTERN];
    let output = Command::new("rg").args(options).arg(root).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
