//! `toolgate tokens`.

use std::{process::ExitCode, time::Duration};

use anyhow::{Context as _, Error, Result, bail};
use clap::{Args, Subcommand};
use serde_json::json;
use server::NewSecret;
use store::{Db, NewToken, OWNER, Scope, Token, TokenKind};
use tool::ItemId;
use toolgate::Role;

use super::serve::{link, listening, reachable};
use crate::{
    cli::{Global, duration},
    context, output,
    visible::visible,
};

const BY: &str = "owner (toolgate tokens)";

/// Make, list and revoke the tokens that clients of `toolgate serve` come with.
#[derive(Debug, Args)]
pub(crate) struct Tokens {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List tokens, also those that ended lately. What they are themselves is kept nowhere.
    List {
        /// Only those of this user.
        #[arg(long, value_name = "U")]
        user: Option<String>,
        /// Print a list as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Make a token and print it, once.
    Add(Add),
    /// End a token.
    Revoke {
        /// The token, as `list` shows it.
        id: ItemId,
    },
    /// Print a link that signs a browser on this machine in as the owner. It works once, for 10 minutes.
    Link,
}

#[derive(Debug, Args)]
struct Add {
    /// What it is for.
    #[arg(long, value_name = "NAME")]
    name: String,
    /// Whoever comes with it is this user, who is not the owner.
    #[arg(long, value_name = "U")]
    user: Option<String>,
    /// Only for this agent; may be given several times. Such a token makes calls, and grants and takes back
    /// nothing; what a person answers at its client it brings back only with the scope `elicit`.
    #[arg(long = "agent", value_name = "A")]
    agents: Vec<String>,
    /// What it is for: `call`, `answer`, `manage`, or `elicit` and `senders`, which no token has unless they are
    /// named; may be given several times. Without, for the first three, as far as the user may.
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<Scope>,
    /// For no scope at all: it only reads what is its user's own.
    #[arg(long, conflicts_with = "scopes")]
    read_only: bool,
    /// It may name the sender and the channel of a message (`Toolgate-Sender`, `Toolgate-Channel`), as a bridge to a
    /// chat service does; adds the scope `senders`.
    #[arg(long, conflicts_with = "read_only")]
    may_name_senders: bool,
    /// It ends after this time; without, when it is revoked.
    #[arg(long, value_name = "30d", value_parser = duration)]
    expires: Option<Duration>,
    /// Print it as JSON, with all that is known about it.
    #[arg(long)]
    json: bool,
}

impl Tokens {
    pub(crate) async fn run(self, global: &Global) -> Result<ExitCode> {
        // A full disk must not keep anybody from taking a right away.
        if matches!(self.action, Action::Revoke { .. }) {
            store::use_reserve();
        }
        if !matches!(self.action, Action::List { .. }) {
            context::person()?;
        }
        let db = context::db(global).await?;
        match self.action {
            Action::List { user, json } => {
                let tokens = db.tokens(user.as_deref()).await?;
                if json {
                    output::json(&tokens)?;
                } else {
                    let head = [
                        "id",
                        "name",
                        "user",
                        "agents",
                        "scopes",
                        "kind",
                        "made",
                        "last used",
                        "until",
                    ];
                    output::table(&head, tokens.iter().map(row).collect());
                }
            }
            Action::Add(add) => add.run(&db).await?,
            Action::Revoke { id } => {
                if !db.revoke_token(&id, BY, context::now()).await? {
                    bail!("no token `{id}` works; `toolgate tokens list` shows those that do");
                }
                output::note(format_args!("Token {} works no more.", id.short()));
            }
            Action::Link => {
                let configured = context::configuration(global)?.server.listen.value;
                let listen = listening(global)?.unwrap_or(configured);
                output::line(link(&db, &reachable(listen)).await?);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Add {
    async fn run(self, db: &Db) -> Result<()> {
        let Self { name, user, agents, mut scopes, read_only, may_name_senders, expires, json } =
            self;
        if may_name_senders {
            if scopes.is_empty() {
                let usual = Scope::USUAL.into_iter();
                scopes.extend(usual.filter(|scope| agents.is_empty() || scope.is_for_agents()));
            }
            if !scopes.contains(&Scope::Senders) {
                scopes.push(Scope::Senders);
            }
        }
        if user.as_deref() == Some(OWNER) {
            bail!("`{OWNER}` is the owner; leave `--user` out");
        }
        for given in user.iter().chain(&agents) {
            if !server::is_name(given) {
                bail!(
                    "`{}` is no name of a user or an agent: that is 1 to 128 of `A-Z a-z 0-9 . _ : @ / + -`",
                    visible(given)
                );
            }
        }
        let now = context::now();
        let expires_at = expires
            .map(|after| now.checked_add(after).context("that is too far away to be counted"))
            .transpose()?;
        let role = if user.is_some() { Role::Member } else { Role::Owner };
        let new = NewToken {
            kind: TokenKind::Api,
            name,
            user: user.unwrap_or_else(|| OWNER.to_owned()),
            role,
            agents: (!agents.is_empty()).then_some(agents),
            scopes: (read_only || !scopes.is_empty()).then_some(scopes),
            expires_at,
        };
        new.check_scopes().map_err(Error::msg)?;
        let secret = NewSecret::token()?;
        let token = db.add_token(new, &secret.hash(), now).await?;
        if json {
            let mut shown = serde_json::to_value(&token)?;
            if let Some(fields) = shown.as_object_mut() {
                fields.insert("token".to_owned(), json!(secret.reveal()));
            }
            return output::json(&shown);
        }
        output::line(secret.reveal());
        output::note(format_args!(
            "This is token {} of `{}`. It is kept nowhere, so keep it now.",
            token.id.short(),
            visible(&token.new.user)
        ));
        Ok(())
    }
}

fn row(token: &Token) -> Vec<String> {
    let Token {
        id,
        new,
        created_at,
        last_used_at,
        revoked_by: _,
        revoked_at,
        made_by: _,
        family: _,
    } = token;
    let NewToken { kind, name, user, role: _, agents, scopes: _, expires_at } = new;
    let scopes: Vec<_> = new.scopes().map(Scope::name).collect();
    let scopes = if scopes.is_empty() { "only reads".to_owned() } else { scopes.join(", ") };
    let agents = agents.as_ref().map_or_else(|| "all".to_owned(), |agents| agents.join(", "));
    let until = match (revoked_at, expires_at) {
        (Some(at), _) => format!("revoked {}", output::time(*at)),
        (None, Some(at)) => output::time(*at),
        (None, None) => "it is revoked".to_owned(),
    };
    vec![
        id.short().to_owned(),
        visible(name),
        visible(user),
        visible(&agents),
        scopes,
        kind.to_string(),
        output::time(*created_at),
        last_used_at.map(output::time).unwrap_or_default(),
        until,
    ]
}
