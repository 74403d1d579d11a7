//! `search_notes`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Effect, Info, Note, NoteSearch, Plan, Profile, Tool, ToolContext, ToolResult, schema_of,
};

use super::INFO;
use crate::{fs::when::iso8601, vouched::vouched};

/// Find notes of the user that were saved with `save_note`, the best match first.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchNotes {
    /// Words of the title, the content or the tags, or `*` for the newest notes. The last word may be
    /// the beginning of one.
    query: String,
    /// Only notes that have all of these tags.
    #[serde(default)]
    tags: Vec<String>,
    /// Return at most this many notes.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

const fn default_limit() -> u32 {
    10
}

/// What was found.
#[derive(Serialize, JsonSchema)]
struct Found {
    /// The notes, the best first.
    notes: Vec<Shown>,
}

/// A note.
#[derive(Serialize, JsonSchema)]
struct Shown {
    /// Id of the note.
    id: String,
    /// What it is about.
    title: String,
    /// The note itself.
    content: String,
    /// Words it can be found by.
    tags: Vec<String>,
    /// When it was saved.
    created_at: String,
}

impl From<Note> for Shown {
    fn from(note: Note) -> Self {
        let Note { id, title, content, tags, untrusted: _, created_at } = note;
        let created_at = iso8601(created_at).unwrap_or_default();
        Self { id: id.to_string(), title, content, tags, created_at }
    }
}

impl Tool for SearchNotes {
    const NAME: &'static str = "search_notes";
    const EFFECTS: &'static [Effect] = &[Effect::Read];
    const INFO: Info = Info { profiles: &[Profile::Gateway], repeatable: true, ..INFO };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Found>())
    }

    fn plan(&self) -> Plan {
        [NoteSearch::need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let Self { query, tags, limit } = self;
        let query = if query.trim() == "*" { String::new() } else { query };
        let notes = ctx.notes()?.search(NoteSearch { query, tags, limit }).await?;
        let source =
            |note: &Note| Some(format!("note `{}` (from {})", note.id, note.untrusted.as_ref()?));
        let sources = notes.iter().filter_map(source).collect();
        Ok(vouched(Found { notes: notes.into_iter().map(Shown::from).collect() }, sources))
    }
}
