//! Claude Desktop: `claude_desktop_config.json`.

use super::{
    client::{Client, NAME, Token, nothing, usual, usual_stale},
    format::Format,
    json_tree::Dialect,
};

pub(super) const CLIENT: Client = Client {
    name: "claude-desktop",
    title: "Claude Desktop",
    format: Format::Json(Dialect::Json),
    file: |here| Ok(here.applications()?.join("Claude/claude_desktop_config.json")),
    path: &["mcpServers", NAME],
    entry: usual,
    stale: usual_stale,
    more: nothing,
    token: Token::None,
    then: "Quit Claude Desktop and start it again.",
};
