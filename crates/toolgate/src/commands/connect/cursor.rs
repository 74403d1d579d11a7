//! Cursor: `mcp.json`.

use super::{
    client::{Client, NAME, Token, nothing, usual, usual_stale},
    format::Format,
    json_tree::Dialect,
};

pub(super) const CLIENT: Client = Client {
    name: "cursor",
    title: "Cursor",
    format: Format::Json(Dialect::Jsonc),
    file: |here| Ok(here.home()?.join(".cursor/mcp.json")),
    path: &["mcpServers", NAME],
    entry: usual,
    stale: usual_stale,
    more: nothing,
    token: Token::Variable("${env:", "}"),
    then: "Start Cursor again, and switch `toolgate` on among its MCP servers.",
};
