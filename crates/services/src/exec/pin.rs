//! What a command depends on besides its own words, and that it is still so when it runs.

use std::{
    fmt,
    io::{self, Read as _, Seek as _},
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
};

use sandbox::{Access, Bind, Job, Source};
use tool::{
    Caller, Capabilities as _, Digest, Disk, FilePath, Identity, Named, Need, Opened, Pinned, Run,
    Runs, Script, ToolError,
};
use world::{Copied, World};

use super::{job::Asked, settings::RunSettings, workdir::in_temp};

/// The kernel reads no more of the first line of a script.
const MAX_FIRST_LINE: u64 = 256;

/// Looks at everything. May block.
pub(super) fn pin(
    world: &World,
    settings: &RunSettings,
    (caller, run): (&Caller, &Run),
    names: &[Named],
) -> Result<Pinned, ToolError> {
    let disk = world.disk(caller)?;
    let folder = disk.look(&Need::Read(run.cwd.clone()))?.resolved;
    let found = std::fs::symlink_metadata(&folder).map_err(|_| ToolError::not_found(&run.cwd))?;
    let variables =
        settings.env.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
    Ok(Pinned {
        folder,
        identity: Identity { device: found.dev(), inode: found.ino() },
        environment: Digest::of_parts(variables),
        names: names.to_vec(),
        scripts: names
            .iter()
            .filter_map(|name| script(&*disk, run, name).transpose())
            .collect::<Result<_, _>>()?,
    })
}

/// The file that a command names.
fn path_of(run: &Run, name: &str) -> FilePath {
    if name.starts_with('/') { FilePath::new(name) } else { run.cwd.join(name) }
}

/// What is no file of the workspace is no script; one that is and cannot be looked at is refused.
fn script(disk: &dyn Disk, run: &Run, named: &Named) -> Result<Option<Script>, ToolError> {
    let path = path_of(run, &named.name);
    let opened = match disk.open(&path) {
        Ok(opened) => opened,
        Err(error @ ToolError::FileTooLarge { .. }) => return Err(unseen(named, error)),
        Err(_) => return Ok(None),
    };
    let resolved = disk.look(&Need::Read(path))?.resolved;
    let script = read(opened, resolved, named).map_err(|error| unseen(named, error))?;
    Ok(Some(script))
}

fn read(opened: Opened, path: String, named: &Named) -> io::Result<Script> {
    let Opened { mut file, stat } = opened;
    let mut start = Vec::new();
    file.by_ref().take(MAX_FIRST_LINE).read_to_end(&mut start)?;
    let is_executable = stat.mode & 0o111 != 0 || start.starts_with(b"#!");
    file.rewind()?;
    let (digest, _) = Digest::of_reader(file)?;
    let Named { name, runs } = named.clone();
    let runs = if is_executable { Runs::Surely } else { runs };
    let interpreter = interpreter(&start);
    Ok(Script { name, runs, path, digest, mode: stat.mode & 0o777, interpreter })
}

/// The program that the first line of a script names, without its folder. Of `env` it is the word
/// behind it, and of anything else that `env` is given, `env` itself.
fn interpreter(start: &[u8]) -> Option<String> {
    let line = start.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_ascii_whitespace();
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let program = base(words.next().unwrap_or_default());
    match words.next() {
        Some(word) if program == "env" && !word.starts_with('-') && !word.contains('=') => {
            Some(base(word))
        }
        _ => Some(program),
    }
}

fn unseen(named: &Named, error: impl fmt::Display) -> ToolError {
    let reason = format!(
        "`{}` may be executed, and nobody can agree to what cannot be looked at: {error}",
        named.name
    );
    ToolError::denied("exec", "pinned", reason)
}

/// Refuses a command whose circumstances are not those a person agreed to. May block.
pub(super) fn check(world: &World, settings: &RunSettings, asked: &Asked) -> Result<(), ToolError> {
    let Some(pinned) = &asked.pinned else { return Ok(()) };
    let now = pin(world, settings, (&asked.caller, &asked.run), &pinned.names)?;
    pinned.changed(&now).map_or(Ok(()), |change| Err(refused(&change)))
}

fn refused(change: &str) -> ToolError {
    let reason = format!("{change} since somebody agreed to the command; ask again");
    ToolError::denied("exec", "pinned", reason)
}

/// Refuses what [`check`] refuses, and mounts the content that was agreed to over the scripts. The
/// copies have to be kept until the command has started. May block.
pub(super) fn mount(
    world: &World,
    settings: &RunSettings,
    asked: &Asked,
    job: &mut Job,
) -> Result<Vec<Copied>, ToolError> {
    check(world, settings, asked)?;
    let scripts = asked.pinned.iter().flat_map(|pinned| &pinned.scripts);
    let disk = world.disk(&asked.caller)?;
    let mut copies = Vec::new();
    for script in scripts.filter(|script| script.runs == Runs::Surely) {
        // Also what changed since the look does not run.
        let changed = || refused(&format!("`{}` has changed", script.name));
        let opened = disk.open(&path_of(&asked.run, &script.name)).map_err(|_| changed())?;
        let (copy, digest) = world.copy_of(opened.file, script.mode)?;
        if digest != script.digest {
            return Err(changed());
        }
        let path = PathBuf::from(&script.path);
        job.binds.push(Bind {
            source: Source::Path(copy.path().to_owned()),
            target: in_temp(world, &asked.caller, &path)?.unwrap_or(path),
            access: Access::ReadOnly,
        });
        copies.push(copy);
    }
    Ok(copies)
}
