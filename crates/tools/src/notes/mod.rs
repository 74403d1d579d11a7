//! Notes of a user.

mod save_note;
mod search_notes;

use std::{sync::Arc, time::Duration};

use tool::{AnyTool, Info, Section, Typed};

/// The tools of this section.
pub(crate) fn tools() -> Vec<Arc<dyn AnyTool>> {
    vec![Typed::<save_note::SaveNote>::erased(), Typed::<search_notes::SearchNotes>::erased()]
}

/// What the tools of this section have in common.
const INFO: Info =
    Info { section: Section::Notes, timeout: Duration::from_secs(10), ..Info::DEFAULT };
