//! Codex: `config.toml`.

use serde_json::{Map, Value, json};

use super::{
    client::{Client, NAME, Server, Token, fields, nothing, usual},
    format::Format,
};

pub(super) const CLIENT: Client = Client {
    name: "codex",
    title: "Codex",
    format: Format::Toml,
    file: |here| {
        Ok(match here.named("CODEX_HOME")? {
            Some(folder) => folder.join("config.toml"),
            None => here.home()?.join(".codex/config.toml"),
        })
    },
    path: &["mcp_servers", NAME],
    entry,
    stale,
    more: nothing,
    token: Token::Variable("${", "}"),
    then: "Start Codex again; `codex mcp list` shows it.",
};

fn entry(server: &Server) -> Map<String, Value> {
    match server {
        Server::Program { .. } => usual(server),
        Server::Http { url, variable, .. } => {
            fields(json!({"url": url, "bearer_token_env_var": variable}))
        }
    }
}

/// Codex refuses its whole file if an entry has a key that is for the other way to reach a server.
const fn stale(server: &Server) -> &'static [&'static str] {
    match server {
        Server::Program { .. } => &[
            "auth",
            "bearer_token",
            "bearer_token_env_var",
            "env_http_headers",
            "http_headers",
            "http_headers_helper",
            "oauth",
            "oauth_resource",
            "url",
        ],
        Server::Http { .. } => &[
            "args",
            "auth",
            "bearer_token",
            "command",
            "cwd",
            "env",
            "env_http_headers",
            "env_vars",
            "http_headers",
            "http_headers_helper",
        ],
    }
}
