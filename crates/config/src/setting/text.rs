//! Texts, and what else is any text.

use super::{Scalar, path::absolute};
use crate::{BaseUrl, Kind, Prompt, SecretName, Text, node::Node};

impl Scalar for Text {
    const KIND: Kind = Kind::Text;

    fn read(node: &Node) -> Result<Self, String> {
        let text = node.text().filter(|text| !text.trim().is_empty());
        text.map(|text| Self(text.to_owned())).ok_or_else(|| Self::KIND.how())
    }
}

impl Scalar for Prompt {
    const KIND: Kind = Kind::Prompt;

    fn read(node: &Node) -> Result<Self, String> {
        let text = node.text().filter(|text| !text.trim().is_empty());
        let text = text.ok_or_else(|| Self::KIND.how())?;
        let Some(path) = text.strip_prefix("file:") else {
            return Ok(Self::Text(text.to_owned()));
        };
        let file = absolute(path).map(Self::File);
        file.map_err(|expected| format!("`file:` and {expected}"))
    }
}

impl Scalar for BaseUrl {
    const KIND: Kind = Kind::Url;

    fn read(node: &Node) -> Result<Self, String> {
        node.text().unwrap_or_default().parse().map_err(str::to_owned)
    }
}

impl Scalar for SecretName {
    const KIND: Kind = Kind::SecretName;

    fn read(node: &Node) -> Result<Self, String> {
        let name = node.text().map(str::trim).filter(|name| !name.is_empty());
        name.map(|name| Self(name.to_owned())).ok_or_else(|| Self::KIND.how())
    }
}
