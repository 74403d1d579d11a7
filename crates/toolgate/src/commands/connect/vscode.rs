//! Visual Studio Code: `mcp.json` of the user.

use serde_json::{Value, json};

use super::{
    client::{Client, NAME, Server, Token, typed},
    format::{Edit, Format},
    json_tree::Dialect,
};

/// What it calls the token it asks for.
pub(super) const INPUT: &str = "toolgate-token";

pub(super) const CLIENT: Client = Client {
    name: "vscode",
    title: "Visual Studio Code",
    format: Format::Json(Dialect::Jsonc),
    file: |here| {
        let portable = here.named("VSCODE_PORTABLE")?.map(|folder| folder.join("user-data"));
        let beneath = here.named("VSCODE_APPDATA")?.map(|folder| folder.join("Code"));
        let folder = match portable.or(beneath) {
            Some(folder) => folder,
            None => here.applications()?.join("Code"),
        };
        Ok(folder.join("User/mcp.json"))
    },
    path: &["servers", NAME],
    entry: typed,
    more,
    token: Token::Asks,
    then: "Visual Studio Code sees it at once; start `toolgate` with `MCP: List Servers`.",
};

/// The question for the token.
fn more(server: &Server) -> Vec<Edit> {
    match server {
        Server::Program { .. } => Vec::new(),
        Server::Http { .. } => vec![input()],
    }
}

/// The answer is kept where it keeps secrets.
pub(super) fn input() -> Edit {
    let item = json!({
        "type": "promptString",
        "id": INPUT,
        "description": "The token for Toolgate",
        "password": true
    });
    let ours = |item: &Value| item.get("id").and_then(Value::as_str) == Some(INPUT);
    Edit::Item { path: &["inputs"], item, ours }
}
