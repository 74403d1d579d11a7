//! `save_note`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool::{
    Effect, Info, ItemId, NewNote, Plan, Profile, Rate, Tool, ToolContext, ToolOutput, ToolResult,
    schema_of,
};

use super::INFO;

/// Save a note that the user may want to find again later, in this conversation or another. Notes
/// belong to the user; `search_notes` finds them.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveNote {
    /// What the note is about, in a few words.
    #[schemars(length(min = 1, max = 500))]
    title: String,
    /// The note itself, as it shall be kept.
    content: String,
    /// Words to find it by, such as `work` or `recipe`; in what case does not matter.
    #[serde(default)]
    #[schemars(length(max = 50))]
    tags: Vec<String>,
}

/// What was saved.
#[derive(Serialize, JsonSchema)]
struct Saved {
    /// Id of the note.
    #[schemars(with = "String")]
    note_id: ItemId,
    /// That it was saved.
    saved: bool,
}

impl Tool for SaveNote {
    const NAME: &'static str = "save_note";
    const EFFECTS: &'static [Effect] = &[Effect::Write];
    const INFO: Info = Info {
        profiles: &[Profile::Gateway],
        rate: Some(Rate { calls: 30, per: Duration::from_mins(1) }),
        ..INFO
    };

    fn output_schema() -> Option<Value> {
        Some(schema_of::<Saved>())
    }

    fn plan(&self) -> Plan {
        [self.note().need()].into()
    }

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        let note = ctx.notes()?.save(self.note()).await?;
        Ok(ToolOutput::json(Saved { note_id: note.id, saved: true }))
    }
}

impl SaveNote {
    fn note(&self) -> NewNote {
        let Self { title, content, tags } = self;
        NewNote { title: title.clone(), content: content.clone(), tags: tags.clone() }
    }
}
