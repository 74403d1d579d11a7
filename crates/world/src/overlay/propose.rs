//! What a command changed, for people to look at.

use std::{fmt::Write as _, fs::File, io::Read as _, os::fd::OwnedFd, time::Duration};

use rustix::fs::{FileType, Mode, OFlags, openat};
use similar::TextDiffConfig;
use tool::{ChangeKind, Digest, FileContent, FilePath, FileState, Live, Proposed};

use crate::{
    beneath::{Links, open_file, open_folder},
    commit::{Content, Moved, Wanted},
    stat::stat_at,
    tree::{Hashing, Visited, names, visit},
    workspace::Workspace,
};

/// Longer files are not compared line by line.
const MAX_BYTES: u64 = 1 << 20;
/// So much of a new folder is shown.
const MAX_ENTRIES: u64 = 1_000;
/// Comparing stops looking for the shortest way after this.
const PATIENCE: Duration = Duration::from_secs(1);

/// One change, in words and line by line.
pub(super) fn propose(workspace: &Workspace, wanted: &Wanted) -> Proposed {
    let path = &wanted.path;
    let beneath = stat_at(&workspace.root, path.as_str()).ok();
    let change = match (&wanted.content, &beneath) {
        (Content::Removed, _) => ChangeKind::Deleted,
        (Content::Moved(_), None) => ChangeKind::Created,
        (Content::Moved(_) | Content::Given(_), _) => ChangeKind::Modified,
    };
    let old = || text(open_file(&workspace.root, path.as_str(), Links::Refused).ok()?.0);
    let folder = || open_folder(&workspace.root, path.as_str(), Links::Refused).ok();
    let gone = || folder().map(|folder| removed_folder(&folder, path));
    let (what, diff) = match &wanted.content {
        Content::Removed => gone().map_or_else(
            || {
                let bytes = beneath.as_ref().map_or(0, |stat| stat.bytes);
                (format!("removed, {bytes} bytes"), old().map(|old| unified(path, &old, "")))
            },
            |(what, listed)| (what, Some(listed)),
        ),
        Content::Moved(moved) => replaced(gone(), described(path, moved, old)),
        Content::Given(FileContent::FolderMode(mode)) => (format!("folder mode {mode:o}"), None),
        Content::Given(_) => (String::new(), None),
    };
    let after = after(&wanted.content);
    Proposed { path: path.clone(), change, what, diff, after, ask_rule: None }
}

const fn after(content: &Content) -> Option<Digest> {
    let Content::Moved(Moved { state, .. }) = content else { return None };
    match state {
        FileState::File { digest, .. } | FileState::Tree { digest, .. } => Some(*digest),
        FileState::Absent | FileState::Link { .. } | FileState::Folder { .. } => None,
    }
}

/// What is there now, after the folder that was there before it.
fn replaced(
    gone: Option<(String, String)>,
    (what, diff): (String, Option<String>),
) -> (String, Option<String>) {
    match gone {
        None => (what, diff),
        Some((gone, listed)) => {
            (format!("{gone}; in its place: {what}"), Some(listed + &diff.unwrap_or_default()))
        }
    }
}

/// A folder that is removed, with the name of every file in it.
fn removed_folder(folder: &OwnedFd, path: &FilePath) -> (String, String) {
    let (mut shown, mut files, mut bytes) = (String::new(), 0_u64, 0_u64);
    let mut look = |visited: Visited<'_>| {
        if FileType::from_raw_mode(visited.stat.st_mode) == FileType::Directory {
            return Ok(());
        }
        let size = u64::try_from(visited.stat.st_size).unwrap_or(0);
        files += 1;
        bytes += size;
        if (shown.len() as u64) < MAX_BYTES {
            let name = named(&format!("{path}/{}", visited.inner.display()));
            let _ = writeln!(shown, "--- a/{name} ({size} bytes)");
        }
        Ok(())
    };
    let live = Live::default();
    let complete = visit(folder, &mut Hashing { live: &live, visit: &mut look }).is_ok();
    let listed = shown.lines().count() as u64;
    if listed < files || !complete {
        let _ = writeln!(shown, "... and more; {files} files in all were counted");
    }
    (format!("folder removed, with {files} files of {bytes} bytes"), shown)
}

/// A name in one line: nobody calls a file what looks like the next one.
fn named(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for c in path.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out
}

fn described(
    path: &FilePath,
    moved: &Moved,
    old: impl Fn() -> Option<String>,
) -> (String, Option<String>) {
    match &moved.state {
        FileState::File { bytes, mode, .. } => {
            let new = open(&moved.folder, &moved.name).and_then(text);
            let diff = new.map(|new| unified(path, &old().unwrap_or_default(), &new));
            let what = if diff.is_some() { "text" } else { "not shown as text" };
            (format!("{bytes} bytes, {what}, mode {mode:o}"), diff.filter(|diff| !diff.is_empty()))
        }
        FileState::Link { target } => (format!("link to `{target}`"), None),
        FileState::Tree { entries, bytes, .. } => {
            let mut inside = Inside { shown: String::new(), entries: 0 };
            if let Some(folder) = open(&moved.folder, &moved.name) {
                inside.folder(&folder.into(), path);
            }
            (format!("folder with {entries} entries, {bytes} bytes"), inside.done(*entries))
        }
        FileState::Absent | FileState::Folder { .. } => (String::new(), None),
    }
}

/// What is in a new folder, file by file.
struct Inside {
    shown: String,
    entries: u64,
}

impl Inside {
    fn folder(&mut self, folder: &OwnedFd, path: &FilePath) {
        for name in names(folder).unwrap_or_default() {
            if self.entries >= MAX_ENTRIES || self.shown.len() as u64 > MAX_BYTES {
                return;
            }
            self.entries += 1;
            let path = FilePath::new(&format!("{path}/{}", String::from_utf8_lossy(&name)));
            let Some(file) = open(folder, &name) else {
                self.say(&path, "not a file");
                continue;
            };
            if file.metadata().is_ok_and(|found| found.is_dir()) {
                self.folder(&file.into(), &path);
                continue;
            }
            match text(file) {
                Some(new) if new.is_empty() => self.say(&path, "empty"),
                Some(new) => self.shown.push_str(&unified(&path, "", &new)),
                None => self.say(&path, "not shown as text"),
            }
        }
    }

    fn say(&mut self, path: &FilePath, what: &str) {
        let _ = writeln!(self.shown, "+++ b/{} ({what})", named(path.as_str()));
    }

    fn done(mut self, entries: u64) -> Option<String> {
        if self.entries < entries {
            let _ = writeln!(self.shown, "... and {} more entries", entries - self.entries);
        }
        (!self.shown.is_empty()).then_some(self.shown)
    }
}

fn open(folder: &OwnedFd, name: &[u8]) -> Option<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    openat(folder, name, flags, Mode::empty()).ok().map(File::from)
}

/// All of a file, if it is text and not too long.
fn text(file: File) -> Option<String> {
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    let fits = bytes.len() as u64 <= MAX_BYTES && !bytes.contains(&0);
    String::from_utf8(bytes).ok().filter(|_| fits)
}

fn unified(path: &FilePath, old: &str, new: &str) -> String {
    let diff = TextDiffConfig::default().timeout(PATIENCE).diff_lines(old, new);
    let name = named(path.as_str());
    let (a, b) = (format!("a/{name}"), format!("b/{name}"));
    diff.unified_diff().header(&a, &b).to_string()
}
