//! Zed: `settings.json`.

use super::{
    client::{Client, NAME, Token, nothing, usual, usual_stale},
    format::Format,
    json_tree::Dialect,
    surroundings::System,
};

pub(super) const CLIENT: Client = Client {
    name: "zed",
    title: "Zed",
    format: Format::Json(Dialect::Jsonc),
    file: |here| {
        let folder = match here.system {
            System::Linux => match here.named("FLATPAK_XDG_CONFIG_HOME")? {
                Some(folder) => folder,
                None => here.config()?,
            },
            System::Mac => here.home()?.join(".config"),
        };
        Ok(folder.join("zed/settings.json"))
    },
    path: &["context_servers", NAME],
    entry: usual,
    stale: usual_stale,
    more: nothing,
    token: Token::InFile,
    then: "Zed sees it at once.",
};
