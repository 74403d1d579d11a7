//! What is stored, and where.

use std::{fs::Metadata, io, os::unix::fs::MetadataExt, path::Path};

use anyhow::{Context as _, Error, Result};
use rustix::{
    fs::{Access, access, statvfs},
    process::geteuid,
};
use store::{ClockState, Db, Journal, shown_time};
use tool::DiskProblem;

use super::finding::{Finding, ok, problem, warning};
use crate::{commands::audit, context, output};

/// A longer journal is not verified here, because that takes long.
const QUICK_RECORDS: u64 = 20_000;
/// Less free space than this is little.
const LITTLE_BYTES: u64 = 1_000_000_000;
/// Less than this, and calls begin to fail.
const FULL_BYTES: u64 = 20_000_000;

/// Whether the data folder can be used, and by its owner only.
pub(super) fn folder(data: &Path) -> Finding {
    const NAME: &str = "data folder";
    let shown = data.display();
    match data.metadata() {
        Ok(folder) => folder_mode(data, &folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match access(existing(data), Access::WRITE_OK) {
                Ok(()) => ok(NAME, format!("{shown} is not there yet; the first call makes it")),
                Err(_) => problem(NAME, format!("{shown} is not there and cannot be made"))
                    .fix("name another with `--data DIR` or `TOOLGATE_DATA`"),
            }
        }
        Err(error) => problem(NAME, format!("{shown} cannot be used: {error}")),
    }
}

fn folder_mode(data: &Path, folder: &Metadata) -> Finding {
    const NAME: &str = "data folder";
    let (shown, mode) = (data.display(), folder.mode() & 0o777);
    if !folder.is_dir() {
        return problem(NAME, format!("{shown} is not a folder"));
    }
    if folder.uid() != geteuid().as_raw() {
        return problem(NAME, format!("{shown} belongs to user {}", folder.uid()))
            .fix("name one of your own with `--data DIR` or `TOOLGATE_DATA`");
    }
    if mode & 0o077 != 0 {
        return warning(NAME, format!("{shown} is open to others (mode {mode:o})"))
            .fix(format!("run `chmod 700 '{shown}'`"));
    }
    ok(NAME, format!("{shown}, for its owner only"))
}

/// The nearest folder above that is there.
fn existing(path: &Path) -> &Path {
    let above = path.ancestors().filter(|above| *above != Path::new(""));
    above.into_iter().find(|above| above.exists()).unwrap_or(Path::new("."))
}

/// Whether there is room for more.
pub(super) fn space(data: &Path) -> Finding {
    const NAME: &str = "disk space";
    let free = match statvfs(existing(data)) {
        Ok(disk) => disk.f_bavail.saturating_mul(disk.f_frsize),
        Err(error) => return warning(NAME, format!("cannot be found out: {error}")),
    };
    let text = format!("{} free for the data folder", in_units(free));
    let fix = "free some, or name a folder on another disk with `--data DIR`";
    match free {
        0..FULL_BYTES => problem(NAME, text).fix(fix),
        FULL_BYTES..LITTLE_BYTES => warning(NAME, text).fix(fix),
        LITTLE_BYTES.. => ok(NAME, text),
    }
}

fn in_units(bytes: u64) -> String {
    match bytes {
        0..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        1_000_000_000.. => format!("{} GB", bytes / 1_000_000_000),
    }
}

/// Whether the machine's clock fits the latest time the data folder has seen.
pub(super) fn clock() -> Finding {
    const NAME: &str = "clock";
    const FIX: &str = "if the machine's clock is right now, run `toolgate doctor --accept-clock`";
    match context::steady_clock().map(|clock| clock.state()) {
        None | Some(ClockState::Right) => ok(NAME, "has not gone back"),
        Some(ClockState::Behind { machine, latest }) => warning(
            NAME,
            format!(
                "the machine says {}, but this data folder has seen {} already, which holds until then",
                shown_time(machine),
                shown_time(latest)
            ),
        )
        .fix(FIX),
        Some(ClockState::FarAhead { machine, latest }) => warning(
            NAME,
            format!(
                "the machine says {}, more than a year after the data folder was last used ({}): nothing \
                 is deleted for its age",
                shown_time(machine),
                shown_time(latest)
            ),
        )
        .fix(FIX),
    }
}

/// Whether the journal opens and is as it was written, and whether calls were left open.
pub(super) fn journal(data: &Path) -> Vec<Finding> {
    const NAME: &str = "journal";
    if !data.join("journal.db").exists() {
        return vec![ok(NAME, "nothing is recorded yet")];
    }
    let found = Journal::open(data, context::clock()).context("cannot be opened");
    match found.and_then(|journal| Ok(vec![records(&journal)?, abandoned(&journal)?])) {
        Ok(found) => found,
        Err(error) => vec![not_usable(NAME, &error, "run `toolgate audit repair`")],
    }
}

fn records(journal: &Journal) -> Result<Finding> {
    const NAME: &str = "journal";
    let records = journal.checkpoint()?.seq;
    if records > QUICK_RECORDS {
        let text = format!("opens; {records} records, `toolgate audit verify` checks them all");
        return Ok(ok(NAME, text));
    }
    let found = journal.verify(None)?;
    let text = audit::in_words(&found);
    Ok(if found.ok {
        ok(NAME, text)
    } else {
        problem(NAME, text).fix("compare it with an export you kept elsewhere")
    })
}

fn abandoned(journal: &Journal) -> Result<Finding> {
    const NAME: &str = "dead processes";
    let calls: usize = journal.abandoned()?.iter().map(|writer| writer.calls.len()).sum();
    Ok(match calls {
        0 => ok(NAME, "none left a call open"),
        calls => {
            warning(NAME, format!("{calls} calls were interrupted and wait to be put in order"))
                .fix("any call does it, such as `toolgate call get_current_time`")
        }
    })
}

/// Whether approvals and permissions can be read.
pub(super) async fn database(data: &Path) -> Finding {
    const NAME: &str = "database";
    if !data.join("toolgate.db").exists() {
        return ok(NAME, "nobody has been asked yet");
    }
    let read = async { Db::open(data).await?.permissions(None).await };
    match read.await.context("cannot be used") {
        Ok(_) => ok(NAME, "opens"),
        Err(error) => not_usable(
            NAME,
            &error,
            "move `toolgate.db*` elsewhere; remembered answers and permissions are then gone",
        ),
    }
}

/// A file that cannot be used. A disk that takes nothing says itself what to do.
fn not_usable(name: &'static str, error: &Error, fix: &'static str) -> Finding {
    let found = problem(name, output::in_full(error));
    if DiskProblem::in_chain(error.as_ref()).is_some() { found } else { found.fix(fix) }
}
