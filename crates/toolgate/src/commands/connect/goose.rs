//! goose: `config.yaml`.

use serde_json::{Map, Value, json};

use super::{
    client::{Client, NAME, Server, Token, fields, nothing},
    format::Format,
};

/// As long as goose gives an extension that it adds itself, in seconds.
const TIMEOUT: u32 = 300;

pub(super) const CLIENT: Client = Client {
    name: "goose",
    title: "goose",
    format: Format::Yaml,
    file: |here| {
        Ok(match here.named("GOOSE_PATH_ROOT")? {
            Some(folder) => folder.join("config/config.yaml"),
            None => here.config()?.join("goose/config.yaml"),
        })
    },
    path: &["extensions", NAME],
    entry,
    stale,
    more: nothing,
    token: Token::Variable("${", "}"),
    then: "Start a new session of goose.",
};

fn entry(server: &Server) -> Map<String, Value> {
    let mut entry = fields(json!({
        "enabled": true,
        "name": NAME,
        "description": "Tools behind the Toolgate gate",
        "timeout": TIMEOUT
    }));
    entry.extend(fields(match server {
        Server::Program { command, args } => json!({"type": "stdio", "cmd": command, "args": args}),
        Server::Http { url, authorization, variable } => json!({
            "type": "streamable_http",
            "uri": url,
            "headers": {"Authorization": authorization},
            "env_keys": [variable]
        }),
    }));
    entry
}

/// A variable that an entry names must be set, or goose does not start it.
const fn stale(_: &Server) -> &'static [&'static str] {
    &["args", "cmd", "env_keys", "headers", "type", "uri"]
}
