//! What a command depends on besides its own words, and that it is still so when it runs.

use std::{
    io::{Read as _, Seek as _},
    os::unix::fs::MetadataExt as _,
    path::PathBuf,
    sync::Arc,
};

use sandbox::{Access, Bind, Job, Source};
use tool::{
    Caller, Capabilities as _, Digest, Disk, FilePath, Identity, Need, Opened, Pinned, Run, Script,
    ToolError,
};
use world::{Copied, World};

use super::{job::Asked, settings::RunSettings};

/// Longer files are compared, not kept.
const MAX_KEPT: u64 = 4 << 20;

/// Looks at everything. May block.
pub(super) fn pin(
    world: &World,
    settings: &RunSettings,
    (caller, run): (&Caller, &Run),
    names: &[String],
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
        scripts: names.iter().filter_map(|name| script(&*disk, run, name)).collect(),
    })
}

/// What is no file of the workspace is no script.
fn script(disk: &dyn Disk, run: &Run, name: &str) -> Option<Script> {
    let path = if name.starts_with('/') { FilePath::new(name) } else { run.cwd.join(name) };
    let Opened { mut file, stat } = disk.open(&path).ok()?;
    let resolved = disk.look(&Need::Read(path)).ok()?.resolved;
    let (name, mode) = (name.to_owned(), stat.mode & 0o777);
    let mut content = Vec::new();
    file.by_ref().take(MAX_KEPT + 1).read_to_end(&mut content).ok()?;
    if content.len() as u64 <= MAX_KEPT {
        let (digest, content) = (Digest::of(&content), Some(Arc::from(content)));
        return Some(Script { name, path: resolved, digest, mode, content });
    }
    file.rewind().ok()?;
    let (digest, _) = Digest::of_reader(file).ok()?;
    Some(Script { name, path: resolved, digest, mode, content: None })
}

/// Refuses a command whose circumstances are not those a person agreed to. May block.
pub(super) fn check(world: &World, settings: &RunSettings, asked: &Asked) -> Result<(), ToolError> {
    let Some(pinned) = &asked.pinned else { return Ok(()) };
    let now = pin(world, settings, (&asked.caller, &asked.run), &pinned.names)?;
    let Some(change) = pinned.changed(&now) else { return Ok(()) };
    let reason = format!("{change} since somebody agreed to the command; ask again");
    Err(ToolError::denied("exec", "pinned", reason))
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
    let mut copies = Vec::new();
    for script in scripts {
        let Some(content) = &script.content else { continue };
        let copy = world.copy_of(content, script.mode)?;
        job.binds.push(Bind {
            source: Source::Path(copy.path().to_owned()),
            target: PathBuf::from(&script.path),
            access: Access::ReadOnly,
        });
        copies.push(copy);
    }
    Ok(copies)
}
