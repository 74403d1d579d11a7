//! Results of which some may come from untrusted content.

use serde::Serialize;
use tool::ToolOutput;

/// So many sources are named.
const MAX_NAMED: usize = 3;

/// The result `value`; `sources` are those of its parts that nobody vouches for.
pub(crate) fn vouched(value: impl Serialize, sources: Vec<String>) -> ToolOutput {
    let output = ToolOutput::json(value);
    if sources.is_empty() {
        return output;
    }
    let more = sources.len().saturating_sub(MAX_NAMED);
    let mut named = sources.into_iter().take(MAX_NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        named = format!("{named} and {more} more");
    }
    // As text, because text is what can be marked.
    let text = output.value.as_ref().map(ToString::to_string).unwrap_or_default();
    ToolOutput { untrusted: Some(named), ..output.with_text(text) }
}
