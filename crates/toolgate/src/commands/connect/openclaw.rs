//! `OpenClaw`: `openclaw.json`, which is JSON5.

use serde_json::{Map, Value};

use super::{
    client::{Client, NAME, Server, Token, nothing, usual, usual_stale},
    format::Format,
    json_tree::Dialect,
};

pub(super) const CLIENT: Client = Client {
    name: "openclaw",
    title: "OpenClaw",
    format: Format::Json(Dialect::Json5),
    file: |here| {
        if let Some(file) = here.named("OPENCLAW_CONFIG_PATH")? {
            return Ok(file);
        }
        let folder = match (here.named("OPENCLAW_STATE_DIR")?, here.named("OPENCLAW_HOME")?) {
            (Some(folder), _) => folder,
            (None, Some(home)) => home.join(".openclaw"),
            (None, None) => here.home()?.join(".openclaw"),
        };
        Ok(folder.join("openclaw.json"))
    },
    path: &["mcp", "servers", NAME],
    entry,
    stale: usual_stale,
    more: nothing,
    token: Token::Variable("${", "}"),
    then: "OpenClaw sees it at once; `openclaw mcp list` shows it.",
};

fn entry(server: &Server) -> Map<String, Value> {
    let mut entry = usual(server);
    if let Server::Http { .. } = server {
        entry.insert("transport".to_owned(), "streamable-http".into());
    }
    entry
}
