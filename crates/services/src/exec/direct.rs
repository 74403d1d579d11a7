//! Commands that change the workspace itself: where there is no overlay, where the person who runs one
//! wants none, and in the background.

use std::fs::File;

use sandbox::{Changes, Job};
use tool::{IsolationLevel, Place, Ran, Start, ToolError};
use world::{Copied, Fence};

use super::{
    Runner, blocking, egress,
    foreground::attend,
    job::{Asked, Guards, Opened, job},
    pin,
    problem::not_started,
};

const NOT_UNDOABLE: &str = "it changed the workspace itself; what it changed cannot be undone";

/// A command that is about to start.
pub(super) struct DirectReady {
    pub(super) job: Job,
    pub(super) fence: Fence,
    /// Needed until it has started.
    pub(super) copies: Vec<Copied>,
}

/// Runs a command to its end.
pub(super) async fn run(runner: &Runner, start: Start<'_>) -> Result<Ran, ToolError> {
    let output_bytes = runner.settings.load().output_bytes;
    let DirectReady { job, fence, copies } = prepare(runner, start).await?;
    let mut process = runner.sandbox.start(job).await.map_err(not_started)?;
    drop(copies);
    let proxy = egress::open(&runner.world, start.run, &mut process)?;
    let (ended, output) = attend(process, start, output_bytes).await?;
    let mut notes = notes(runner, fence).await;
    notes.extend(egress::note(proxy.as_ref()));
    Ok(Ran { ended, output, place: Place::Sandbox, changed: Vec::new(), notes })
}

/// Makes a command ready to start. What it must not touch is found first; without namespaces nothing
/// keeps it from that, but it is noticed afterwards.
pub(super) async fn prepare(runner: &Runner, start: Start<'_>) -> Result<DirectReady, ToolError> {
    let (settings, world) = (runner.settings.load_full(), runner.world.clone());
    let asked = Asked::from(start);
    let isolation = runner.isolation().map(|isolation| isolation.level);
    let prepare = move || {
        let path = world.root(&asked.caller)?;
        let root = File::open(&path).map_err(ToolError::internal)?.into();
        let mut fence = world.fence(&asked.caller)?;
        let mounts = isolation != Some(IsolationLevel::Reduced);
        let guards = if mounts {
            Guards {
                read_only: fence.read_only.clone(),
                absent: std::mem::take(&mut fence.absent),
                masked: std::mem::take(&mut fence.masked),
            }
        } else {
            Guards::default()
        };
        let workspace = Opened { root, path, changes: Changes::Direct, guards };
        let mut job = job(&world, &settings, &asked, workspace)?;
        let copies = if mounts {
            pin::mount(&world, &settings, &asked, &mut job)?
        } else {
            pin::check(&world, &settings, &asked)?;
            Vec::new()
        };
        Ok(DirectReady { job, fence, copies })
    };
    blocking(prepare).await
}

/// What is to be known about a command that has ended.
pub(super) async fn notes(runner: &Runner, fence: Fence) -> Vec<String> {
    let mut notes = vec![NOT_UNDOABLE.to_owned()];
    notes.extend(runner.isolation().and_then(|isolation| isolation.note()));
    notes.extend(trespasses(fence).await);
    notes
}

/// Protected files that came into being or changed.
pub(super) async fn trespasses(fence: Fence) -> Vec<String> {
    let look = move || Ok((fence.appeared()?, fence.changed()));
    let (appeared, changed) = match blocking(look).await {
        Ok(found) => found,
        Err(error) => return vec![error.to_string()],
    };
    let note = |path: &std::path::Path, what: &str| {
        format!(
            "`{}` {what} and protected: it decides what other programs run. Look at it before you use \
             it, or remove it",
            path.display()
        )
    };
    let appeared = appeared.iter().map(|path| note(path, "is new"));
    appeared.chain(changed.iter().map(|path| note(path, "was changed"))).collect()
}
