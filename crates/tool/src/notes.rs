//! The notes of a user.

use std::{fmt, sync::Arc, time::SystemTime};

use serde::Serialize;

use crate::{BoxFuture, CallId, ItemId, Need, ToolError, own_data::Desk, time::shown};

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
    /// What untrusted content it may come from: nobody vouches for it then.
    pub untrusted: Option<String>,
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

impl NewNote {
    /// What saving it needs.
    pub fn need(&self) -> Need {
        Need::Keep(format!("save the note `{}`", self.title))
    }
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

impl NoteSearch {
    /// What looking for them needs.
    pub fn need() -> Need {
        Need::Recall("notes".to_owned())
    }
}

/// The notes of one user.
pub trait Notes: fmt::Debug + Send + Sync {
    /// Saves a note, because of `call`.
    fn save(&self, call: CallId, new: NewNote) -> BoxFuture<'_, Result<Note, ToolError>>;
    /// The notes that `search` finds, the best first.
    fn search(&self, search: NoteSearch) -> BoxFuture<'_, Result<Vec<Note>, ToolError>>;
}

/// The notes of the user of one call, as far as it planned to look at them or to save one.
#[derive(Debug)]
pub struct Notebook {
    pub(crate) desk: Desk,
    pub(crate) notes: Arc<dyn Notes>,
}

impl Notebook {
    /// Saves a note.
    pub async fn save(&self, new: NewNote) -> Result<Note, ToolError> {
        let (need, notes, call) = (new.need(), self.notes.clone(), self.desk.call);
        self.desk.keep(&need, async move { notes.save(call, new).await }).await
    }

    /// The notes that `search` finds, the best first.
    pub async fn search(&self, search: NoteSearch) -> Result<Vec<Note>, ToolError> {
        self.desk.recall(&NoteSearch::need(), async { self.notes.search(search).await }).await
    }
}
