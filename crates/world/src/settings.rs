//! What a world is made from.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{Keep, NetSettings};

/// What a [`crate::World`] is made from.
#[derive(Debug, Clone)]
pub struct WorldSettings {
    /// Where pre-images, artifacts, locks and private temp folders are. No tool sees it.
    pub data: PathBuf,
    /// The root of every agent that has none of its own.
    pub workspace: PathBuf,
    /// Roots of single agents.
    pub agents: BTreeMap<String, PathBuf>,
    /// More roots for everybody, reached by absolute path.
    pub roots: Vec<PathBuf>,
    /// Protected paths besides the built-in ones.
    pub protected: Vec<String>,
    /// Larger files are not changed: what cannot be kept cannot be undone.
    pub max_file_bytes: u64,
    /// How much is kept to undo changes and to read artifacts.
    pub keep: Keep,
    /// How far tools get on the network.
    pub net: NetSettings,
}

impl WorldSettings {
    /// One workspace, the usual limits.
    pub fn new(data: impl Into<PathBuf>, workspace: impl Into<PathBuf>) -> Self {
        Self {
            data: data.into(),
            workspace: workspace.into(),
            agents: BTreeMap::new(),
            roots: Vec::new(),
            protected: Vec::new(),
            max_file_bytes: 100 * 1024 * 1024,
            keep: Keep::default(),
            net: NetSettings::default(),
        }
    }
}
