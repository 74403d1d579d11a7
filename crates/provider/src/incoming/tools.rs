//! Tools that clients bring along.

use serde_json::{Value, json};
use tool::ToolInfo;

use crate::{
    ProviderError,
    json::{field, text, unexpected},
};

/// A function: `name`, `description`, and its parameters in one of these fields.
pub(super) fn function(at: &Value, parameters: &[&str]) -> Result<ToolInfo, ProviderError> {
    if !at.is_object() {
        return Err(unexpected("function", "an object", at));
    }
    let name = text(at, "name")?.filter(|name| !name.trim().is_empty());
    let name = name.ok_or(ProviderError::Missing { at: "a tool", field: "name" })?;
    let description = text(at, "description")?.unwrap_or_default();
    let mut schema = None;
    for &parameters in parameters {
        let Some(found) = field(at, parameters)? else { continue };
        if !found.is_object() {
            return Err(unexpected(parameters, "a JSON Schema", found));
        }
        schema = Some(found.clone());
    }
    let schema = schema.unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    Ok(ToolInfo::new(name, description, schema))
}
