//! The token of a client.

use anyhow::Result;
use server::NewSecret;
use store::{NewToken, OWNER, Scope, Token, TokenKind};
use tool::ItemId;
use toolgate::Role;

use crate::{cli::Global, context};

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

/// Which tokens of a client.
#[derive(Clone, Copy)]
pub(super) enum Whose<'a> {
    /// Those for this agent.
    Agent(&'a str),
    /// Those for any.
    Anybody,
}

/// Whether a token works that was made here for a client and an agent.
pub(super) async fn lives(global: &Global, client: &str, agent: &str) -> Result<bool> {
    let all = left(global, client).await?;
    Ok(all.iter().any(|token| is_ours(token, client, Whose::Agent(agent))))
}

/// The tokens that work and were made here for a client, whoever they are for.
pub(super) async fn left(global: &Global, client: &str) -> Result<Vec<Token>> {
    if !context::data(global)?.is_dir() {
        return Ok(Vec::new());
    }
    let mut all = context::db(global).await?.tokens(Some(OWNER)).await?;
    all.retain(|token| is_ours(token, client, Whose::Anybody));
    Ok(all)
}

/// Ends the tokens that were made here for a client, all but `kept`, and says how many there were.
pub(super) async fn end(
    global: &Global,
    client: &str,
    whose: Whose<'_>,
    kept: Option<&ItemId>,
) -> Result<usize> {
    if !context::data(global)?.is_dir() {
        return Ok(0);
    }
    let db = context::db(global).await?;
    let mut ended = 0;
    for token in db.tokens(Some(OWNER)).await? {
        if is_ours(&token, client, whose)
            && kept != Some(&token.id)
            && db.revoke_token(&token.id, BY, context::now()).await?
        {
            ended += 1;
        }
    }
    Ok(ended)
}

/// Whether a token works that was made here; somebody may have called another one the same.
fn is_ours(token: &Token, client: &str, whose: Whose<'_>) -> bool {
    let Some([agent]) = token.new.agents.as_deref() else { return false };
    let is_theirs = match whose {
        Whose::Agent(one) => one == agent,
        Whose::Anybody => true,
    };
    is_theirs
        && token.new.name == name(client, agent)
        && token.new.kind == TokenKind::Api
        && token.new.scopes.as_deref() == Some(&[Scope::Call])
        && token.new.expires_at.is_none()
        && token.revoked_at.is_none()
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
