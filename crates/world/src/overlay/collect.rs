//! Reads the upper layer of an overlay.

use std::{
    collections::HashSet,
    fs::File,
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
    sync::Arc,
};

use policy::ProtectedLevel;
use rustix::{
    fs::{AtFlags, Mode, OFlags, Stat, fstat, openat, readlinkat, statat},
    io::Errno,
};
use tool::{Digest, Expect, Extent, FileContent, FilePath, FileState, Live, ToolError};

use super::{
    lost::Lost,
    notes::Notes,
    tidy::{Kind, is_marked, open_tidy, open_tidy_mode},
};
use crate::{
    alias::Aliases,
    beneath::{Links, open_folder},
    commit::{Content, HowMoved, Moment, Moved, Since, Wanted},
    problem,
    tree::{
        Hashing, MAX_DEPTH, TooDeep, Visited, check_depth, hash, hash_file, names, remove, visit,
    },
    workspace::Workspace,
};

/// Turns what a command left in the upper layer into changes.
pub(super) struct Collector<'a> {
    workspace: &'a Workspace,
    live: &'a Live,
    since: Since,
    /// Where entries stay in the layer until the end, so do the kernel's marks: it may be read again.
    how: HowMoved,
    wanted: Vec<Wanted>,
    notes: Notes,
    lost: Lost,
    asked: Vec<AskedChange>,
    aliases: Aliases,
    largest_grown: u64,
}

/// A change that a person has to see, because other programs or agents obey the file.
#[derive(Debug)]
pub(super) struct AskedChange {
    /// The change it is a part of.
    pub(super) path: FilePath,
    /// Where it is within that, if that is a folder; else empty.
    pub(super) inside: PathBuf,
    pub(super) rule: String,
}

/// What a command changed, what has to be said about it, and what would be lost by it.
pub(super) struct Found {
    pub(super) wanted: Vec<Wanted>,
    pub(super) notes: Vec<String>,
    pub(super) lost: Extent,
    pub(super) asked: Vec<AskedChange>,
    /// The size of the largest file that is new or longer than it was.
    pub(super) largest_grown: u64,
}

/// One entry of the upper layer, and what is beneath it.
struct Entry<'a> {
    upper: &'a Arc<OwnedFd>,
    lower: Option<&'a OwnedFd>,
    name: &'a [u8],
    inner: PathBuf,
    stat: Stat,
    beneath: Option<Stat>,
    how: HowMoved,
}

impl Entry<'_> {
    fn path(&self) -> FilePath {
        FilePath::new(&self.inner.to_string_lossy())
    }

    fn moved(&self, state: FileState) -> Content {
        let (folder, name) = (self.upper.clone(), self.name.to_owned());
        Content::Moved(Moved { folder, name, state, how: self.how })
    }

    /// Opens it, tidied up as far as that can be done now.
    fn open(&self) -> io::Result<OwnedFd> {
        match self.how {
            HowMoved::Renamed => open_tidy(self.upper, self.name, &self.stat),
            HowMoved::Linked => open_tidy_mode(self.upper, self.name, &self.stat),
        }
    }

    fn lies_on(&self, kind: Kind) -> bool {
        self.beneath.as_ref().is_some_and(|stat| Kind::of(stat) == kind)
    }
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        live: &'a Live,
        since: Since,
        how: HowMoved,
    ) -> Self {
        let (notes, lost, aliases) = (Notes::default(), Lost::default(), Aliases::default());
        let (wanted, asked) = (Vec::new(), Vec::new());
        let largest_grown = 0;
        Self { workspace, live, since, how, wanted, notes, lost, asked, aliases, largest_grown }
    }

    /// Goes through all of the upper layer.
    pub(super) fn all(&mut self, upper: &OwnedFd) -> Result<(), ToolError> {
        let upper = Arc::new(upper.try_clone().map_err(ToolError::internal)?);
        let lower = open_folder(&self.workspace.root, ".", Links::Refused);
        let lower = lower.map_err(ToolError::internal)?;
        self.folder(&upper, Some(&lower), Path::new(""))
    }

    pub(super) fn done(self) -> Found {
        // What was left out after all is not asked about.
        let kept: HashSet<_> = self.wanted.iter().map(|wanted| &wanted.path).collect();
        let mut asked = self.asked;
        asked.retain(|asked| kept.contains(&asked.path));
        let lost = Extent { asked: asked.len() as u64, ..self.lost.extent() };
        let largest_grown = self.largest_grown;
        Found { wanted: self.wanted, notes: self.notes.done(), lost, asked, largest_grown }
    }

    fn folder(
        &mut self,
        upper: &Arc<OwnedFd>,
        lower: Option<&OwnedFd>,
        inner: &Path,
    ) -> Result<(), ToolError> {
        self.live.check()?;
        if inner.iter().count() > MAX_DEPTH {
            let top = inner.iter().next().unwrap_or_default().to_string_lossy();
            return Err(problem::reading(&FilePath::new(&top), TooDeep));
        }
        if let Some(lower) = lower {
            let (root, protected) = (&self.workspace.root, &self.workspace.common.protected);
            self.aliases.look(root, protected, (lower, inner));
        }
        for name in names(upper).map_err(ToolError::internal)? {
            let Ok(text) = std::str::from_utf8(&name) else {
                let shown = inner.join(String::from_utf8_lossy(&name).as_ref());
                self.notes
                    .add(format!("`{}` was left out: its name is not UTF-8", shown.display()));
                continue;
            };
            let inner = inner.join(text);
            let look = |folder: &OwnedFd| match statat(folder, text, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => Ok(None),
                found => found.map(Some).map_err(ToolError::internal),
            };
            let Some(stat) = look(upper)? else { continue };
            let beneath = lower.map(look).transpose()?.flatten();
            let how = self.how;
            self.entry(&Entry { upper, lower, name: &name, inner, stat, beneath, how })?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &Entry<'_>) -> Result<(), ToolError> {
        if self.is_hidden(&entry.inner)? {
            return Ok(());
        }
        if entry.lies_on(Kind::Link)
            && let Some(why) = self.rule(&entry.inner, Kind::Link)
        {
            // Without the link, something else could be put where it leads to now.
            self.leave_out(&entry.inner, &why);
            return Ok(());
        }
        match Kind::of(&entry.stat) {
            Kind::Whiteout => self.removed(entry),
            Kind::Other => {
                self.leave_out(&entry.inner, "it is no file, folder or link");
                Ok(())
            }
            Kind::File => self.file(entry),
            Kind::Link => self.link(entry),
            Kind::Folder => self.changed_folder(entry),
        }
    }

    fn removed(&mut self, entry: &Entry<'_>) -> Result<(), ToolError> {
        let Some(beneath) = &entry.beneath else { return Ok(()) };
        if let Some(why) = self.rule(&entry.inner, Kind::of(beneath)) {
            self.leave_out(&entry.inner, &why);
            return Ok(());
        }
        if self.may_lose_folder(entry)? {
            self.note_asked(&entry.inner, &entry.inner);
            self.want(entry, Content::Removed);
        }
        Ok(())
    }

    fn file(&mut self, entry: &Entry<'_>) -> Result<(), ToolError> {
        if self.is_protected(entry) {
            return Ok(());
        }
        let path = entry.path();
        let failed = |error: io::Error| problem::reading(&path, error);
        self.refuse_vanished(entry)?;
        if !self.may_lose_folder(entry)? {
            return Ok(());
        }
        let file = entry.open().map_err(failed)?;
        let mode = entry.stat.st_mode & 0o777;
        let (digest, bytes) = hash_file(&File::from(file), self.live).map_err(failed)?;
        let before = entry.beneath.as_ref().map_or(0, |stat| stat.st_size.unsigned_abs());
        if before < bytes {
            self.largest_grown = self.largest_grown.max(bytes);
        }
        if !is_still(entry, (digest, bytes), self.live)? {
            self.lose_one(entry);
            self.note_asked(&entry.inner, &entry.inner);
        }
        self.keep(entry, entry.moved(FileState::File { digest, bytes, mode }));
        Ok(())
    }

    fn link(&mut self, entry: &Entry<'_>) -> Result<(), ToolError> {
        if self.is_protected(entry) {
            return Ok(());
        }
        self.note_link(&entry.inner, &entry.inner);
        let target = readlinkat(&**entry.upper, entry.name, Vec::new());
        let target = target.map_err(|errno| problem::reading(&entry.path(), errno))?;
        let Ok(target) = target.into_string() else {
            self.leave_out(&entry.inner, "its target is not UTF-8");
            return Ok(());
        };
        if !self.may_lose_folder(entry)? {
            return Ok(());
        }
        self.want(entry, entry.moved(FileState::Link { target }));
        Ok(())
    }

    /// A folder that was there is gone into; a new one is taken with everything in it.
    fn changed_folder(&mut self, entry: &Entry<'_>) -> Result<(), ToolError> {
        let path = entry.path();
        let failed = |error: io::Error| problem::reading(&path, error);
        let opened = open_any(entry.upper, entry.name).map_err(failed)?;
        let is_opaque = is_marked(&opened, "opaque");
        if entry.lies_on(Kind::Folder) && !is_opaque {
            let lower = entry.lower.map(|lower| open_folder(lower, entry.name, Links::Refused));
            let lower = lower.transpose().map_err(|errno| problem::reading(&path, errno))?;
            self.folder(&Arc::new(opened), lower.as_ref(), &entry.inner)?;
            self.mode(entry);
            return Ok(());
        }
        if is_marked(&opened, "origin") && !is_opaque {
            return Err(problem::changed_since(&path));
        }
        if let Some(why) = self.rule(&entry.inner, Kind::Folder) {
            self.leave_out(&entry.inner, &why);
            return Ok(());
        }
        if !self.may_lose_folder(entry)? {
            return Ok(());
        }
        let folder = entry.open().map_err(failed)?;
        self.tidy(&folder, &entry.inner, &entry.inner).map_err(failed)?;
        let mut largest = self.largest_grown;
        let mut look = |visited: Visited<'_>| {
            if Kind::of(visited.stat) == Kind::File {
                largest = largest.max(visited.stat.st_size.unsigned_abs());
            }
            Ok(())
        };
        let mut hashing = Hashing { live: self.live, visit: &mut look };
        let hashed = hash(&folder, &mut hashing).map_err(failed)?;
        self.largest_grown = largest;
        self.want(entry, entry.moved(hashed.into()));
        Ok(())
    }

    /// Takes out of a new folder what must not come out of a sandbox.
    fn tidy(&mut self, folder: &OwnedFd, top: &Path, inner: &Path) -> io::Result<()> {
        check_depth(inner.iter().count().saturating_sub(top.iter().count()))?;
        self.live.check().map_err(io::Error::other)?;
        for name in names(folder)? {
            let inner = inner.join(String::from_utf8_lossy(&name).as_ref());
            let stat = statat(folder, name.as_slice(), AtFlags::SYMLINK_NOFOLLOW)?;
            let kind = Kind::of(&stat);
            if let Some(why) = self.rule(&inner, kind) {
                self.leave_out(&inner, &why);
                remove(folder, name.as_slice())?;
                continue;
            }
            if kind == Kind::Link {
                self.note_link(top, &inner);
            } else if kind == Kind::File {
                self.note_asked(top, &inner);
            }
            match kind {
                Kind::Whiteout => remove(folder, name.as_slice())?,
                Kind::Other => {
                    self.leave_out(&inner, "it is no file, folder or link");
                    remove(folder, name.as_slice())?;
                }
                Kind::File => drop(open_tidy(folder, &name, &stat)?),
                Kind::Folder => {
                    let inside = open_tidy(folder, &name, &stat)?;
                    self.tidy(&inside, top, &inner)?;
                }
                Kind::Link => {}
            }
        }
        Ok(())
    }

    fn mode(&mut self, entry: &Entry<'_>) {
        let Some(beneath) = &entry.beneath else { return };
        let (old, new) = (beneath.st_mode & 0o777, entry.stat.st_mode & 0o777);
        if old != new && self.rule(&entry.inner, Kind::Folder).is_none() {
            self.wanted.push(Wanted {
                path: entry.path(),
                expect: Expect::State(FileState::Folder { mode: old }),
                content: Content::Given(FileContent::FolderMode(new)),
                since: None,
            });
        }
    }

    fn want(&mut self, entry: &Entry<'_>, content: Content) {
        self.lose_one(entry);
        self.keep(entry, content);
    }

    fn lose_one(&mut self, entry: &Entry<'_>) {
        if let Some(beneath) = &entry.beneath {
            self.lost.add(&entry.inner, beneath);
        }
    }

    fn keep(&mut self, entry: &Entry<'_>, content: Content) {
        let (path, since) = (entry.path(), Some(self.since));
        self.wanted.push(Wanted { path, expect: Expect::Anything, content, since });
    }

    fn leave_out(&mut self, inner: &Path, why: &str) {
        self.notes.add(format!("the change of `{}` was left out: {why}", inner.display()));
    }

    fn is_protected(&mut self, entry: &Entry<'_>) -> bool {
        let rule = self.rule(&entry.inner, Kind::of(&entry.stat));
        if let Some(why) = &rule {
            self.leave_out(&entry.inner, why);
        }
        rule.is_some()
    }

    /// Why `inner` may not be changed, if it may not, by any of its names.
    fn rule(&self, inner: &Path, kind: Kind) -> Option<String> {
        let protected = &self.workspace.common.protected;
        let rule_of = |path: &Path| {
            let path = path.to_string_lossy();
            match kind {
                Kind::Folder => protected.folder_rule(&path),
                Kind::File | Kind::Link | Kind::Whiteout | Kind::Other => protected.rule(&path),
            }
        };
        if let Some(rule) = rule_of(inner) {
            return Some(format!("it is protected by rule `{rule}`"));
        }
        if kind == Kind::Link
            && let Some((ProtectedLevel::Refused, rule)) =
                protected.link_rule(&inner.to_string_lossy())
        {
            return Some(format!(
                "it is a link, and what is reached through it is protected by rule `{rule}`"
            ));
        }
        self.aliases.names(inner).find_map(|alias| {
            let rule = rule_of(&alias)?;
            Some(format!("it is also `{}`, which is protected by rule `{rule}`", alias.display()))
        })
    }

    /// Notes that a person has to see the change of `inner`, if a rule says so. `top` is the change
    /// it is a part of.
    fn note_asked(&mut self, top: &Path, inner: &Path) {
        let protected = &self.workspace.common.protected;
        let rule_of = |path: &Path| protected.ask_rule(&path.to_string_lossy()).map(str::to_owned);
        let rule = rule_of(inner).or_else(|| self.aliases.names(inner).find_map(|it| rule_of(&it)));
        if let Some(rule) = rule {
            self.ask(top, inner, rule);
        }
    }

    /// The same for a link, through which something with such a rule may be reached.
    fn note_link(&mut self, top: &Path, inner: &Path) {
        let protected = &self.workspace.common.protected;
        let link_rule = protected.link_rule(&inner.to_string_lossy());
        match link_rule.map(|(_, rule)| rule.to_owned()) {
            Some(rule) => self.ask(top, inner, rule),
            None => self.note_asked(top, inner),
        }
    }

    fn ask(&mut self, top: &Path, inner: &Path, rule: String) {
        let path = FilePath::new(&top.to_string_lossy());
        let inside = inner.strip_prefix(top).unwrap_or(inner).to_owned();
        self.asked.push(AskedChange { path, inside, rule });
    }

    /// Counts the folder that was there and is not any more, whatever is there now. One that must not
    /// be lost because of what is in it is left as it was.
    fn may_lose_folder(&mut self, entry: &Entry<'_>) -> Result<bool, ToolError> {
        let Some(lower) = entry.lower.filter(|_| entry.lies_on(Kind::Folder)) else {
            return Ok(true);
        };
        let folder = open_folder(lower, entry.name, Links::Refused);
        let folder = folder.map_err(|errno| problem::writing(&entry.path(), errno))?;
        let protected = self.lose(&folder, &entry.inner)?;
        if let Some(why) = &protected {
            self.leave_out(&entry.inner, why);
        }
        Ok(protected.is_none())
    }

    /// Counts what is in a folder that is to be lost; or says why it may not be, because of what is
    /// in it.
    fn lose(&mut self, folder: &OwnedFd, inner: &Path) -> Result<Option<String>, ToolError> {
        let (mut found, mut lost, mut asked) = (None, Lost::default(), Vec::new());
        let mut look = |visited: Visited<'_>| {
            let path = inner.join(visited.inner);
            if let Some(why) = self.rule(&path, Kind::of(visited.stat)) {
                found = Some(format!("`{}` is in it, and {why}", path.display()));
                return Err(io::ErrorKind::Interrupted.into());
            }
            lost.add(&path, visited.stat);
            if Kind::of(visited.stat) == Kind::File {
                let protected = &self.workspace.common.protected;
                let rule = protected.ask_rule(&path.to_string_lossy());
                asked.extend(rule.map(|rule| (path, rule.to_owned())));
            }
            Ok(())
        };
        let mut hashing = Hashing { live: self.live, visit: &mut look };
        let visited = visit(folder, &mut hashing);
        match (visited, found) {
            (_, Some(why)) => Ok(Some(why)),
            (Ok(()), None) => {
                self.lost.merge(&lost);
                for (path, rule) in asked {
                    self.ask(inner, &path, rule);
                }
                Ok(None)
            }
            (Err(error), None) => {
                Err(problem::reading(&FilePath::new(&inner.to_string_lossy()), error))
            }
        }
    }

    /// A file that came from beneath and is not there any more was removed by somebody else, unless
    /// the command has renamed it to this: then the folder beneath is as it was.
    fn refuse_vanished(&self, entry: &Entry<'_>) -> Result<(), ToolError> {
        let Some(lower) = entry.lower.filter(|_| entry.beneath.is_none()) else { return Ok(()) };
        let stat = fstat(lower).map_err(ToolError::internal)?;
        let opened = open_any(entry.upper, entry.name);
        if Moment::of(&stat) > self.since.moment
            && opened.is_ok_and(|file| is_marked(file.as_fd(), "origin"))
        {
            return Err(problem::changed_since(&entry.path()));
        }
        Ok(())
    }

    fn is_hidden(&self, inner: &Path) -> Result<bool, ToolError> {
        self.workspace.root.hides_inner(inner).map_err(ToolError::internal)
    }
}

/// Whether a file has the content it had: some programs touch what they do not change.
fn is_still(
    entry: &Entry<'_>,
    (digest, bytes): (Digest, u64),
    live: &Live,
) -> Result<bool, ToolError> {
    let size = entry.beneath.as_ref().and_then(|stat| u64::try_from(stat.st_size).ok());
    let lower = entry.lower.filter(|_| size == Some(bytes) && entry.lies_on(Kind::File));
    let opened = lower.and_then(|lower| open_any(lower, entry.name).ok());
    live.check()?;
    Ok(opened.is_some_and(|file| {
        hash_file(&File::from(file), live).is_ok_and(|(before, _)| before == digest)
    }))
}

fn open_any(folder: &OwnedFd, name: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(openat(folder, name, flags, Mode::empty())?)
}
