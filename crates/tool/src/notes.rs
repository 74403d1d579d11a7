//! The notes of a user.

use std::time::SystemTime;

use serde::Serialize;

use crate::{ItemId, time::shown};

/// Something a user wants to find again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Its name.
    pub id: ItemId,
    /// In a few words.
    pub title: String,
    /// All of it.
    pub content: String,
    /// To find it by, in lower case.
    pub tags: Vec<String>,
    /// When it was saved.
    #[serde(serialize_with = "shown")]
    pub created_at: SystemTime,
}

/// A note that is to be saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewNote {
    /// In a few words.
    pub title: String,
    /// All of it.
    pub content: String,
    /// To find it by; in what case does not matter.
    pub tags: Vec<String>,
}

/// Which notes are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoteSearch {
    /// Words of the title, the content or the tags; any text. Without any, the newest notes.
    pub query: String,
    /// Only notes that have all of these.
    pub tags: Vec<String>,
    /// At most so many.
    pub limit: u32,
}
