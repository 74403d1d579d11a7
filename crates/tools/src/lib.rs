//! The built-in tools: one file each, `<section>/<tool>.rs`.
//!
//! A tool knows nothing but the `tool` crate: it reaches the world only through its `ToolContext`.
//! To add one to a section, write its file and add two lines to that section's `mod.rs`.
//!
//! Start from [`builtin`] and `time/get_current_time.rs`, the smallest tool.

mod agents;
mod automation;
mod fs;
mod notes;
mod runtime;
mod sessions;
mod tasks;
mod time;
mod web;

// What tools of several sections are made of.
mod vouched;

use std::sync::Arc;

use tool::AnyTool;

/// Every built-in tool, section by section, in alphabetical order.
pub fn builtin() -> Vec<Arc<dyn AnyTool>> {
    [
        agents::tools(),
        automation::tools(),
        fs::tools(),
        notes::tools(),
        runtime::tools(),
        sessions::tools(),
        tasks::tools(),
        time::tools(),
        web::tools(),
    ]
    .concat()
}
