//! Files of the workspace.

mod apply_patch;
mod edit;
mod glob;
mod grep;
mod ls;
mod read;
mod stat;
mod write;

// What tools above are made of, where it is more than a tool.
mod decode;
mod glob_filter;
mod image;
mod near;
mod page;
mod patch;
mod replace;
mod search;
mod text;
pub(crate) mod when;

use std::{sync::Arc, thread, time::Duration};

use tool::{AnyTool, Capability, FileKind, Info, Profile, Section, ToolError, Typed};

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![
        Typed::<apply_patch::ApplyPatch>::erased(),
        Typed::<edit::Edit>::erased(),
        Typed::<glob::Glob>::erased(),
        Typed::<grep::Grep>::erased(),
        Typed::<ls::Ls>::erased(),
        Typed::<read::Read>::erased(),
        Typed::<stat::Stat>::erased(),
        Typed::<write::Write>::erased(),
    ]
}

/// What the tools of this section have in common.
const INFO: Info = Info {
    section: Section::Fs,
    profiles: &[Profile::Coding],
    parameter_aliases: &[("file_path", "path")],
    timeout: Duration::from_secs(10),
    uses: &[Capability::Files],
    ..Info::DEFAULT
};

/// The largest file that is looked into.
const MAX_FILE_BYTES: u64 = 100 * 1024 * 1024;

/// How many threads go through a folder. More than eight only wait for each other.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Turns "it is not there" into `None`.
fn if_there<T>(result: Result<T, ToolError>) -> Result<Option<T>, ToolError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(ToolError::FileNotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What results call a kind of file.
const fn kind_name(kind: FileKind) -> &'static str {
    match kind {
        FileKind::File => "file",
        FileKind::Folder => "folder",
        FileKind::Link => "link",
        FileKind::Other => "other",
    }
}
