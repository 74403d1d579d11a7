//! The record of a changed configuration.

use serde_json::json;
use tool::{BoxFuture, Info, Plan, Prepared, ToolContext, ToolInfo, ToolOutput, ToolResult};

/// The tool a changed configuration is recorded as.
pub(crate) fn reload_tool() -> ToolInfo {
    let parameters = json!({"type": "object", "properties": {
        "file": {"type": "string", "description": "The file that changed."}
    }});
    ToolInfo::with("reload", "Take over a changed configuration.", parameters, Info::DEFAULT)
}

/// It has happened already; this only says so.
#[derive(Debug)]
pub(crate) struct Reloaded;

impl Prepared for Reloaded {
    fn plan(&self) -> Plan {
        Plan::default()
    }

    fn run(self: Box<Self>, _: &ToolContext) -> BoxFuture<'_, ToolResult> {
        Box::pin(std::future::ready(Ok(ToolOutput::text("took over the new configuration"))))
    }
}
