//! Where secrets are.

use super::{Scalar, path::absolute};
use crate::{Kind, Secret, node::Node};

impl Scalar for Secret {
    const KIND: Kind = Kind::Secret;

    fn read(node: &Node) -> Result<Self, String> {
        let text = node.text().unwrap_or_default();
        if let Some(path) = text.strip_prefix("file:") {
            let file = absolute(path).map(Self::File);
            return file.map_err(|expected| format!("`file:` and {expected}"));
        }
        let variable = text.strip_prefix("env:").ok_or_else(|| Self::KIND.how())?;
        if variable.is_empty() || variable.contains(['=', '\0']) {
            return Err("`env:` and the name of a variable".to_owned());
        }
        Ok(Self::Env(variable.to_owned()))
    }
}
