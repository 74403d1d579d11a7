//! Tools that do what a test needs.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use tool::{Effect, Info, Need, Plan, Profile, Tool, ToolContext, ToolOutput, ToolResult};

/// Ring a bell, which cannot be undone.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Ring {
    /// What to shout along.
    #[serde(default)]
    shout: String,
}

impl Tool for Ring {
    const NAME: &'static str = "ring";
    const EFFECTS: &'static [Effect] = &[Effect::Act];
    const INFO: Info = Info { profiles: &[Profile::Gateway], ..Info::DEFAULT };

    fn plan(&self) -> Plan {
        [Need::Act(format!("ring a bell and shout {}", self.shout))].into()
    }

    async fn run(self, _: &ToolContext) -> ToolResult {
        Ok(ToolOutput::text("rang"))
    }
}

/// Say something piece by piece.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Talk {
    /// How many pieces.
    pieces: u32,
    /// How long to go on saying nothing afterwards, in milliseconds.
    #[serde(default)]
    rest_ms: u64,
    /// How long each piece is.
    #[serde(default)]
    bytes: u32,
}

impl Tool for Talk {
    const NAME: &'static str = "talk";
    const INFO: Info =
        Info { profiles: &[Profile::Gateway], timeout: Duration::from_mins(5), ..Info::DEFAULT };

    async fn run(self, ctx: &ToolContext) -> ToolResult {
        for piece in 0..self.pieces {
            ctx.update(&format!("piece {piece} {}\n", "x".repeat(self.bytes as usize))).await;
        }
        tokio::time::sleep(Duration::from_millis(self.rest_ms)).await;
        Ok(ToolOutput::text("said"))
    }
}
