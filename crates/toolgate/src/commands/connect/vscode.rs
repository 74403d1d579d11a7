//! Visual Studio Code: `mcp.json` of the user.

use serde_json::Value;

use super::{
    client::{Client, NAME, Server, Token, typed, usual_stale},
    format::{Edit, Format, TOKEN},
    json,
    json_tree::Dialect,
};

/// What it calls a token it asks for, but for what marks that token: it remembers the answer by the whole name, and
/// would send that of an older one.
const INPUT: &str = "toolgate-token";

/// How a header begins that has the answer.
const BEFORE: &str = "Bearer ${input:";

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
    stale: usual_stale,
    more,
    token: Token::Asks,
    then: "Visual Studio Code sees it at once; start `toolgate` with `MCP: List Servers`.",
};

/// The question for the token.
fn more(server: &Server) -> Vec<Edit> {
    let Server::Http { authorization, .. } = server else { return Vec::new() };
    let id = authorization.strip_prefix(BEFORE).and_then(|rest| rest.strip_suffix('}'));
    vec![input(id.unwrap_or(INPUT))]
}

/// What `Authorization` says, if the token is marked by `mark`.
pub(super) fn authorization(mark: &str) -> String {
    if mark == TOKEN {
        return format!("{BEFORE}{INPUT}}}");
    }
    format!("{BEFORE}{INPUT}-{mark}}}")
}

/// What marks the token that our entry in a file has it ask for; those of others ask, too.
pub(super) fn mark(text: &str) -> Option<String> {
    let entry = json::get(text, Dialect::Jsonc, CLIENT.path).ok()??;
    let header = entry.pointer("/headers/Authorization")?.as_str()?;
    let id = header.strip_prefix(BEFORE)?.strip_suffix('}')?;
    let mark = id.strip_prefix(INPUT)?.strip_prefix('-')?;
    mark.chars().all(|one| one.is_ascii_alphanumeric()).then(|| mark.to_owned())
}

/// Every question of ours.
pub(super) fn inputs() -> Edit {
    input(INPUT)
}

/// The answer is kept where it keeps secrets.
fn input(id: &str) -> Edit {
    let item = serde_json::json!({
        "type": "promptString",
        "id": id,
        "description": "The token for Toolgate",
        "password": true
    });
    let ours = |item: &Value| {
        let id = item.get("id").and_then(Value::as_str).unwrap_or_default();
        id.strip_prefix(INPUT).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    Edit::Item { path: &["inputs"], item, ours }
}
