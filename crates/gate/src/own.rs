//! Operations of the gate's own: recorded like any call, in no model's view.

use std::{fmt, sync::Arc};

use serde_json::Value;
use tool::{AnyTool, Prepared, ToolError, ToolInfo};

use crate::registry::Entry;

/// Something a person does themselves, with the name it is recorded under.
pub struct Operation {
    /// What it is called, what it uses, how long it may take.
    pub info: ToolInfo,
    /// What the journal keeps as its arguments.
    pub args: Value,
    /// What is done.
    pub prepared: Box<dyn Prepared>,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "operation `{}`", self.info.name)
    }
}

/// The tool such an operation is recorded as. Nobody can call it by its name.
struct OwnTool(Arc<ToolInfo>);

/// For the journal and the stages.
pub(crate) fn own_entry(info: ToolInfo) -> Arc<Entry> {
    Arc::new(Entry::new(Arc::new(OwnTool(Arc::new(info)))))
}

impl AnyTool for OwnTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.0
    }
    fn prepare(&self, _: Value) -> Result<Box<dyn Prepared>, ToolError> {
        Err(ToolError::NotAvailable(self.0.name.to_string()))
    }
}
