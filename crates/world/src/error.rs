//! Why there is no world.

use std::{io, path::PathBuf};

/// Why a [`crate::World`] could not be opened. For operators; no call ever sees it.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum WorldError {
    #[error("cannot open the data folder `{}`: {source}", path.display())]
    Data { path: PathBuf, source: io::Error },
    #[error("the data folder `{}` belongs to user {owner}; choose one of your own", path.display())]
    DataOfAnother { path: PathBuf, owner: u32 },
    #[error("cannot open the workspace `{}`: {source}", path.display())]
    Root { path: PathBuf, source: io::Error },
    #[error("the workspace `{}` lies in the data folder, which no tool may see; move one of them", path.display())]
    RootInData { path: PathBuf },
    #[error("cannot clean up the data folder: {0}")]
    Prune(#[source] io::Error),
    #[error("files can only be kept beneath a workspace on Linux (openat2) as yet")]
    Unsupported,
}
