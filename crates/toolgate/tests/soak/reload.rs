//! A configuration file that changes.

use std::{
    fs,
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use serde_json::json;

use crate::{helper::until, turn::Turn};

/// One of so many files cannot be read.
const BROKEN: u64 = 5;

/// What the log says of a file that is not taken over.
pub(crate) const STAYS: &str = "the old configuration stays";

/// The file, and what it says about a tool that is used by nobody else.
pub(crate) struct File {
    path: PathBuf,
    text: String,
    denies: bool,
    /// How often another one was taken over,
    taken: usize,
    /// and how often it could not be read.
    pub(crate) broken: usize,
}

impl File {
    pub(crate) fn new(path: PathBuf) -> Self {
        let text = fs::read_to_string(&path).unwrap();
        Self { path, text, denies: false, taken: 0, broken: 0 }
    }

    /// How many entries of the journal tell that it was taken over: also a broken one that was mended is, unless the
    /// next change comes before anybody looks.
    pub(crate) fn told(&self) -> RangeInclusive<u64> {
        self.taken as u64..=(self.taken + self.broken) as u64
    }

    fn whole(&self) -> String {
        let deny = if self.denies { "deny = [\"stat\"]\n" } else { "" };
        self.text.replace("[tools]\n", &format!("[tools]\n{deny}"))
    }
}

/// As an editor does it.
fn replace(path: &Path, text: &str) {
    let new = path.with_extension("new");
    fs::write(&new, text).unwrap();
    fs::rename(new, path).unwrap();
}

/// Another file holds, or a broken one does not.
#[expect(clippy::await_holding_invalid_type, reason = "one worker at a time changes the file")]
pub(crate) async fn reload(turn: &mut Turn) {
    let site = turn.site.clone();
    let mut file = site.file.lock().await;
    if turn.random.below(BROKEN) == 0 {
        replace(&file.path, "[tools\n");
        file.broken += 1;
        until("it is said", async || site.whole_log().matches(STAYS).count() == file.broken).await;
        assert_eq!(denies(turn).await, file.denies);
        replace(&file.path, &file.whole());
        return;
    }
    file.denies = !file.denies;
    file.taken += 1;
    replace(&file.path, &file.whole());
    until("it holds", async || denies(turn).await == file.denies).await;
}

async fn denies(turn: &Turn) -> bool {
    let caller = turn.site.callers[0].clone();
    let answer = turn.send(turn.calling(&caller, "stat", &json!({"path": "."}))).await;
    assert!([200, 404].contains(&answer.status), "{answer:?}");
    answer.status == 404
}
