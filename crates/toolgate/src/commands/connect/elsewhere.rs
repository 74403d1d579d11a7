//! The token of a server that may be elsewhere: who makes it, and what is to be done about it.

use anyhow::{Context as _, Result, bail};
use url::Url;

use super::{
    super::serve::{listening, reachable},
    Connect, Target,
    client::{ELSEWHERE, Token, VARIABLE},
    said::say_token,
};
use crate::{cli::Global, output, visible::visible};

/// Who makes the token of a client.
#[derive(Debug, Clone)]
pub(super) enum Maker {
    /// We do: it is for the server of this data folder.
    Here,
    /// Somebody at another server; it is in this variable.
    Elsewhere(String),
}

impl Maker {
    pub(super) fn variable(&self) -> &str {
        match self {
            Self::Here => VARIABLE,
            Self::Elsewhere(name) => name,
        }
    }
}

impl Connect {
    /// A token made here is for the server that runs here, and no other is to see it.
    pub(super) fn maker(&self, global: &Global) -> Result<Maker> {
        let Some(given) = &self.url else { return Ok(Maker::Here) };
        let origin = |url: &str| Url::parse(url).ok().map(|url| url.origin());
        let here = listening(global)?.and_then(|listen| origin(&reachable(listen)));
        match (&self.token_env, here.is_some() && here == origin(given)) {
            (None, true) => Ok(Maker::Here),
            (Some(_), true) => {
                bail!("this server runs here, and its token is made here; leave `--token-env` out")
            }
            (None, false) => Ok(Maker::Elsewhere(ELSEWHERE.to_owned())),
            (Some(name), false) if is_variable(name) => Ok(Maker::Elsewhere(name.clone())),
            (Some(name), false) => bail!("`{}` is no name of a variable", visible(name)),
        }
    }

    /// What a client needs that keeps the token of a server elsewhere in its file.
    pub(super) fn given(&self, target: &Target, name: &str) -> Result<String> {
        let is_token = |text: &String| {
            text.starts_with("tg_")
                && text.chars().all(|one| one.is_ascii_alphanumeric() || "_-".contains(one))
        };
        config::environment(name).filter(is_token).with_context(|| {
            format!(
                "{} keeps the token in its file, and {name} holds none; {}, and set {name} to it for this command",
                target.title,
                self.how_to_make()
            )
        })
    }

    fn how_to_make(&self) -> String {
        format!(
            "make one where that server runs (`toolgate tokens add --name {} --agent {} --scope call`)",
            self.client.client().name,
            visible(self.agent())
        )
    }

    /// What is to be done about the token of a server elsewhere.
    pub(super) fn say_no_token(&self, token: Token, variable: &str) {
        let then = match token {
            Token::None => return,
            Token::InFile => return say_token(token, ""),
            Token::Variable(..) => format!("set {variable} to it where the client starts"),
            Token::Asks => "the client asks for it once".to_owned(),
        };
        output::note(format_args!("No token was made: {}; {then}.", self.how_to_make()));
    }
}

/// Whether it can be the name of an environment variable, and nothing else to any client.
fn is_variable(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|one| one.is_ascii_alphanumeric() || one == '_')
}
