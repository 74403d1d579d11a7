//! What the server holds in memory, second by second.

use std::{fs, time::Duration};

use tokio::task::JoinHandle;

/// What may be more at the end: so much,
const MOST_BYTES: u64 = 8_000_000;
/// or one part of so many.
const MOST_PART: u64 = 10;

/// Samples that are being taken.
pub(crate) struct Sampling(JoinHandle<()>, std::sync::Arc<std::sync::Mutex<Vec<u64>>>);

/// Resident bytes, one for each second.
pub(crate) struct Samples(Vec<u64>);

impl Samples {
    /// Begins to look at a process.
    pub(crate) fn of(process: u32) -> Sampling {
        let samples = std::sync::Arc::<std::sync::Mutex<Vec<u64>>>::default();
        let all = samples.clone();
        let task = tokio::spawn(async move {
            let mut tick = tokio::time::interval(Duration::from_secs(1));
            loop {
                tick.tick().await;
                all.lock().unwrap().push(resident(process));
            }
        });
        Sampling(task, samples)
    }

    pub(crate) fn show(&self) {
        let all: Vec<_> = self.0.iter().map(|bytes| format!("{:.1}", megabytes(*bytes))).collect();
        eprintln!("MB of the server, each second: {}", all.join(" "));
    }

    /// After a third to warm up, the last quarter is as the first.
    pub(crate) fn are_flat(&self) {
        let warm = &self.0[self.0.len() / 3..];
        let quarter = warm.len() / 4;
        let (first, last) = (median(&warm[..quarter]), median(&warm[warm.len() - quarter..]));
        let most = first + MOST_BYTES.max(first / MOST_PART);
        eprintln!("memory: {:.1} MB, then {:.1} MB", megabytes(first), megabytes(last));
        assert!(last <= most, "memory grows, from {first} bytes to {last}");
    }
}

impl Sampling {
    pub(crate) fn end(self) -> Samples {
        let Self(task, samples) = self;
        task.abort();
        Samples(std::mem::take(&mut *samples.lock().unwrap()))
    }
}

fn median(samples: &[u64]) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

#[expect(clippy::cast_precision_loss, reason = "it is shown to people")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

pub(crate) fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}
