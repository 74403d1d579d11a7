//! A client's file: read, kept, and replaced as a whole.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::fs::{
        DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
    },
    path::{Path, PathBuf},
};

use anyhow::{Context as _, Result, bail};
use jiff::{Timestamp, tz::TimeZone};
use rustix::fs::{FlockOperation, Gid, Uid, fchown, flock};

use crate::context;

/// No client's file is larger.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// A file as it was read.
#[derive(Debug)]
pub(super) struct Found {
    /// Where it is looked for.
    pub(super) path: PathBuf,
    /// Where it is, if that is behind a link.
    real: PathBuf,
    /// What it says; nothing if it is not there.
    pub(super) text: String,
    exists: bool,
}

/// Whether what is written holds something that nobody else may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    Nothing,
    Secret,
}

impl Found {
    /// Reads the file, through a link if it is one.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        let real = match fs::symlink_metadata(path) {
            Ok(known) if known.is_symlink() => fs::canonicalize(path)
                .with_context(|| format!("`{shown}` is a link that leads nowhere"))?,
            Ok(_) => path.to_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
            Err(error) => return Err(error).with_context(|| format!("cannot look at `{shown}`")),
        };
        let text = content(&real).with_context(|| format!("cannot read `{shown}`"))?;
        let exists = text.is_some();
        Ok(Self { path: path.to_owned(), real, text: text.unwrap_or_default(), exists })
    }

    /// Puts `text` in its place, unless somebody else changed it meanwhile. Gives the name of the copy of
    /// what was there.
    pub(super) fn replace(&self, text: &str, holds: Holds) -> Result<Option<PathBuf>> {
        self.prepare(text, holds)?.finish()
    }

    /// Writes all that is slow to write.
    fn prepare(&self, text: &str, holds: Holds) -> Result<Ready<'_>> {
        let shown = self.path.display();
        let folder = self.real.parent().with_context(|| format!("`{shown}` is in no folder"))?;
        let mut make = fs::DirBuilder::new();
        let made = make.recursive(true).mode(0o700).create(folder);
        made.with_context(|| format!("cannot make the folder of `{shown}`"))?;
        // Two of us at once take turns; of others it is noticed in the end what they change.
        let turn =
            File::open(folder).with_context(|| format!("cannot open the folder of `{shown}`"))?;
        flock(&turn, FlockOperation::LockExclusive).context("cannot wait for another `connect`")?;
        let new = Temp::write(&self.real, text, self.mode(holds))?;
        let copy = if self.exists { Some(self.keep()?) } else { None };
        Ok(Ready { found: self, turn, new, copy })
    }

    /// As it was, but for others nothing if it holds a secret; closed if it is new.
    fn mode(&self, holds: Holds) -> (u32, Option<(u32, u32)>) {
        let known = fs::metadata(&self.real).ok();
        let mode = known.as_ref().map_or(0o600, |known| known.mode() & 0o777);
        let mode = if holds == Holds::Secret { mode & 0o700 | 0o600 } else { mode };
        (mode, known.map(|known| (known.uid(), known.gid())))
    }

    /// Keeps a copy beside it, for its owner alone.
    fn keep(&self) -> Result<Temp> {
        let now = Timestamp::try_from(context::now())?.to_zoned(TimeZone::system());
        let now = now.strftime("%Y%m%d-%H%M%S").to_string();
        let name = self.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for number in 0..100_u32 {
            let more = if number == 0 { String::new() } else { format!("-{number}") };
            let copy = self.real.with_file_name(format!("{name}.before-toolgate-{now}{more}"));
            match fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&copy) {
                Ok(mut file) => {
                    let copy = Temp(copy);
                    file.write_all(self.text.as_bytes())?;
                    file.sync_all()?;
                    return Ok(copy);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error)
                        .with_context(|| format!("cannot write `{}`", copy.display()));
                }
            }
        }
        bail!("there are too many copies of `{}`", self.path.display())
    }
}

/// What is written, and not yet in its place.
struct Ready<'a> {
    found: &'a Found,
    /// Held until it is in its place.
    turn: File,
    new: Temp,
    copy: Option<Temp>,
}

impl Ready<'_> {
    /// Puts it in its place. Between the last look at what is there and that, nothing is waited for.
    fn finish(self) -> Result<Option<PathBuf>> {
        let Self { found: Found { path, real, text, exists }, turn, new, copy } = self;
        let shown = path.display();
        let now = content(real).with_context(|| format!("cannot read `{shown}`"))?;
        if now.as_deref() != exists.then_some(text.as_str()) {
            bail!("`{shown}` changed meanwhile, so nothing was changed; run the command again");
        }
        fs::rename(&new.0, real).with_context(|| format!("cannot replace `{shown}`"))?;
        let copy = copy.map(Temp::stays);
        // What is left to do is to have the name on the disk.
        turn.sync_all().with_context(|| format!("cannot write the folder of `{shown}`"))?;
        Ok(copy)
    }
}

/// A file beside its place, which is gone in the end unless it is to stay.
struct Temp(PathBuf);

impl Temp {
    fn stays(mut self) -> PathBuf {
        std::mem::take(&mut self.0)
    }

    fn write(beside: &Path, text: &str, (mode, owner): (u32, Option<(u32, u32)>)) -> Result<Self> {
        let name = beside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let path = beside.with_file_name(format!(".{name}.toolgate-{}", std::process::id()));
        let written = || format!("cannot write beside `{}`", beside.display());
        // What a dead process of the same number left is nobody's.
        let _ = fs::remove_file(&path);
        let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let (mut file, temp) = (file.with_context(written)?, Self(path));
        file.write_all(text.as_bytes()).with_context(written)?;
        if let Some((user, group)) = owner {
            // Only root may give files away; for anybody else it is their own already.
            let _ = fchown(&file, Some(Uid::from_raw(user)), Some(Gid::from_raw(group)));
        }
        file.set_permissions(fs::Permissions::from_mode(mode)).with_context(written)?;
        file.sync_all().with_context(written)?;
        Ok(temp)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// What a file says; nothing if it is not there.
fn content(path: &Path) -> Result<Option<String>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if !file.metadata()?.is_file() {
        bail!("it is not a file");
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        bail!("it is larger than {MAX_BYTES} bytes");
    }
    Ok(Some(String::from_utf8(bytes).context("it is not UTF-8")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o777
    }

    #[test]
    fn what_others_changed_meanwhile_is_not_lost() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/settings.json");
        let none = Found::read(&path).unwrap();
        let also = Found::read(&path).unwrap();
        assert_eq!(none.replace("one", Holds::Nothing).unwrap(), None);
        let error = also.replace("two", Holds::Nothing).unwrap_err().to_string();
        assert!(error.contains("changed meanwhile"), "{error}");
        let found = Found::read(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(found.replace("two", Holds::Nothing).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn what_others_change_while_the_copy_is_written_is_not_lost_either() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        fs::write(&path, "old").unwrap();
        let found = Found::read(&path).unwrap();
        let ready = found.prepare("new", Holds::Nothing).unwrap();
        fs::write(&path, "theirs").unwrap();
        assert!(ready.finish().unwrap_err().to_string().contains("changed meanwhile"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no copy of it is left");
    }

    #[test]
    fn a_copy_stays_a_link_stays_and_a_secret_is_for_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let (path, real) = (folder.path().join("link"), folder.path().join("real.json"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o664)).unwrap();
        std::os::unix::fs::symlink("real.json", &path).unwrap();
        let copy = Found::read(&path).unwrap().replace("new", Holds::Nothing).unwrap().unwrap();
        assert_eq!((fs::read_to_string(&copy).unwrap().as_str(), mode(&copy)), ("old", 0o600));
        assert_eq!((fs::read_to_string(&real).unwrap().as_str(), mode(&real)), ("new", 0o664));
        assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
        let again = Found::read(&path).unwrap().replace("secret", Holds::Secret).unwrap().unwrap();
        assert_ne!(again, copy);
        assert_eq!(mode(&real), 0o600);
        fs::remove_file(&real).unwrap();
        assert!(Found::read(&path).unwrap_err().to_string().contains("leads nowhere"));
    }
}
