//! What is known about a client.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::{
    claude_code, claude_desktop, codex, cursor,
    format::{Edit, Format},
    goose, openclaw,
    surroundings::Surroundings,
    vscode, zed,
};

/// What we are called in every client.
pub(super) const NAME: &str = "toolgate";

/// The variable that a client finds the token in, where it can.
pub(super) const VARIABLE: &str = "TOOLGATE_TOKEN";

/// The same for a server elsewhere, which the token of ours is not for.
pub(super) const ELSEWHERE: &str = "TOOLGATE_REMOTE_TOKEN";

/// A client, by the name it is given on the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ClientName {
    ClaudeDesktop,
    ClaudeCode,
    Codex,
    Cursor,
    Vscode,
    Zed,
    Goose,
    Openclaw,
}

impl ClientName {
    pub(super) const fn client(self) -> &'static Client {
        match self {
            Self::ClaudeDesktop => &claude_desktop::CLIENT,
            Self::ClaudeCode => &claude_code::CLIENT,
            Self::Codex => &codex::CLIENT,
            Self::Cursor => &cursor::CLIENT,
            Self::Vscode => &vscode::CLIENT,
            Self::Zed => &zed::CLIENT,
            Self::Goose => &goose::CLIENT,
            Self::Openclaw => &openclaw::CLIENT,
        }
    }
}

/// A client: where its file is, and what it wants to find there.
pub(super) struct Client {
    /// On the command line.
    pub(super) name: &'static str,
    /// As its makers call it.
    pub(super) title: &'static str,
    pub(super) format: Format,
    /// Where its file is.
    pub(super) file: fn(&Surroundings<'_>) -> Result<PathBuf>,
    /// Where the entry stands in it.
    pub(super) path: &'static [&'static str],
    pub(super) entry: fn(&Server) -> Map<String, Value>,
    /// Keys that would contradict the entry, if they are not among it.
    pub(super) stale: fn(&Server) -> &'static [&'static str],
    /// What stands there besides.
    pub(super) more: fn(&Server) -> Vec<Edit>,
    pub(super) token: Token,
    /// What its user has to do then.
    pub(super) then: &'static str,
}

/// How a client comes to its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token {
    /// It starts programs and reaches no server.
    None,
    /// From a variable of its environment, whose name it writes between these within a text.
    Variable(&'static str, &'static str),
    /// It asks its user once, and keeps it where it keeps secrets.
    Asks,
    /// From its file.
    InFile,
}

/// What a client connects to.
#[derive(Debug, Clone)]
pub(super) enum Server {
    /// A program, with its arguments one by one.
    Program { command: String, args: Vec<String> },
    /// A server that runs, what `Authorization` says, and the variable with the token.
    Http { url: String, authorization: String, variable: String },
}

impl Client {
    /// All that is to stand in its file.
    pub(super) fn edits(&self, server: &Server) -> Vec<Edit> {
        let (entry, stale) = ((self.entry)(server), (self.stale)(server));
        let entry = Edit::Entry { path: self.path, entry, stale };
        (self.more)(server).into_iter().chain([entry]).collect()
    }

    /// What `Authorization` says, if the token, or what marks it, is `token`, and `variable` holds it.
    pub(super) fn authorization(&self, token: &str, variable: &str) -> String {
        match self.token {
            Token::Variable(before, after) => format!("Bearer {before}{variable}{after}"),
            Token::Asks => vscode::authorization(token),
            Token::None | Token::InFile => format!("Bearer {token}"),
        }
    }
}

/// Keys that say how a server is reached: one way excludes the others.
pub(super) const fn usual_stale(_: &Server) -> &'static [&'static str] {
    &["args", "command", "headers", "source", "transport", "type", "url"]
}

/// The entry that most clients agree on: a program, or an address with headers.
pub(super) fn usual(server: &Server) -> Map<String, Value> {
    fields(match server {
        Server::Program { command, args } => json!({"command": command, "args": args}),
        Server::Http { url, authorization, .. } => {
            json!({"url": url, "headers": {"Authorization": authorization}})
        }
    })
}

/// The same, for clients that want to be told which of the two it is.
pub(super) fn typed(server: &Server) -> Map<String, Value> {
    let kind = match server {
        Server::Program { .. } => "stdio",
        Server::Http { .. } => "http",
    };
    let mut entry = usual(server);
    entry.insert("type".to_owned(), kind.into());
    entry
}

pub(super) fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

/// Nothing besides.
pub(super) fn nothing(_: &Server) -> Vec<Edit> {
    Vec::new()
}
