//! The token of a client.

use anyhow::Result;
use server::NewSecret;
use store::{NewToken, Scope, TokenKind};
use tool::ItemId;
use toolgate::Role;

use crate::{cli::Global, context};

const OWNER: &str = "owner";
const BY: &str = "owner (toolgate connect)";

/// A token that was just made.
pub(super) struct Made {
    pub(super) id: ItemId,
    pub(super) secret: NewSecret,
}

/// Makes a token for a client. It is for one agent and for calls, so that it answers, grants and takes back
/// nothing.
pub(super) async fn make(global: &Global, client: &str, agent: &str) -> Result<Made> {
    let secret = NewSecret::token()?;
    let new = NewToken {
        kind: TokenKind::Api,
        name: name(client, agent),
        user: OWNER.to_owned(),
        role: Role::Owner,
        agents: Some(vec![agent.to_owned()]),
        scopes: Some(vec![Scope::Call]),
        expires_at: None,
    };
    let made = context::db(global).await?.add_token(new, &secret.hash(), context::now()).await?;
    Ok(Made { id: made.id, secret })
}

/// Ends the tokens that were made here for a client and an agent, all but `kept`, and says how many there
/// were.
pub(super) async fn end(
    global: &Global,
    client: &str,
    agent: &str,
    kept: Option<&ItemId>,
) -> Result<usize> {
    if !context::data(global)?.is_dir() {
        return Ok(0);
    }
    let (db, name) = (context::db(global).await?, name(client, agent));
    let mut ended = 0;
    for token in db.tokens(Some(OWNER)).await? {
        // Somebody may have called another one the same.
        let is_ours = token.new.name == name
            && token.new.kind == TokenKind::Api
            && token.new.agents.as_deref() == Some(&[agent.to_owned()])
            && token.new.scopes.as_deref() == Some(&[Scope::Call])
            && token.new.expires_at.is_none()
            && token.revoked_at.is_none();
        if is_ours
            && kept != Some(&token.id)
            && db.revoke_token(&token.id, BY, context::now()).await?
        {
            ended += 1;
        }
    }
    Ok(ended)
}

/// Ends a token that nobody has.
pub(super) async fn discard(global: &Global, made: &Made) -> Result<()> {
    context::db(global).await?.revoke_token(&made.id, BY, context::now()).await?;
    Ok(())
}

/// Says who made it, too.
fn name(client: &str, agent: &str) -> String {
    format!("{client} as {agent} (toolgate connect)")
}
