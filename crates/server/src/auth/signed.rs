//! What a token lets somebody do.

use std::{sync::Arc, time::Duration};

use agent::MAIN;
use axum::http::HeaderMap;
use config::Config;
use policy::Allowance;
use store::{NewToken, Scope, Token, TokenKind};
use tool::{Caller, Confined, Digest, Role, nearest};

use super::Sees;
use crate::{
    per_user::Counted,
    problem::{Kind, Problem},
    state::State,
};

/// The header that names the agent a call is made by.
const AGENT: &str = "toolgate-agent";
/// The header that names the conversation a call belongs to.
const SESSION: &str = "toolgate-session";
/// The header that names who wrote the message behind a request, for tokens that may.
const SENDER: &str = "toolgate-sender";
/// The header that names the chat service the message came by, for tokens that may.
const SENDER_CHANNEL: &str = "toolgate-channel";
/// The channel of calls that come one by one, for policy.
const CHANNEL: &str = "http";
/// When to come back if too much is open.
const LATER: Duration = Duration::from_secs(1);
/// Names are no longer.
const MOST: usize = 128;

/// What a request names: the agent and the session it is for, and the sender and the channel behind it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CallerNames<'a> {
    pub(crate) agent: Option<&'a str>,
    pub(crate) session: Option<&'a str>,
    pub(crate) sender: Option<&'a str>,
    pub(crate) channel: Option<&'a str>,
}

/// How a token came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum By {
    /// In a header, or a first message: whoever sent it has the token.
    Header,
    /// In a cookie: the browser sends it whatever page asks.
    Cookie,
}

/// Somebody with a token that works.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) token: Arc<Token>,
    pub(crate) hash: Digest,
    pub(crate) by: By,
}

impl Signed {
    pub(crate) fn user(&self) -> &str {
        &self.token.new.user
    }

    /// Whether they own this Toolgate and come themselves. A token for certain agents is an agent's, and
    /// an agent does not run the place, whoever it works for.
    pub(crate) fn is_owner(&self) -> bool {
        self.token.new.role == Role::Owner && self.is_person()
    }

    /// Whether a person may be behind it: an agent's token answers, grants and makes nothing.
    pub(crate) fn is_person(&self) -> bool {
        self.token.new.agents.is_none()
    }

    /// Whether the token is for this; whether its user may do it is another question.
    pub(crate) fn may(&self, scope: Scope) -> bool {
        self.token.new.is_for(scope)
    }

    /// Refuses what the token is not for.
    pub(crate) fn check_scope(&self, needed: Option<Scope>) -> Result<(), Problem> {
        let Some(needed) = needed.filter(|needed| !self.may(*needed)) else { return Ok(()) };
        if !self.is_person() && !needed.is_for_agents() {
            let message =
                "a token that is for certain agents can do this for nobody; use another one";
            return Err(Problem::new(Kind::Forbidden, message));
        }
        let scopes: Vec<_> = self.token.new.scopes().map(|scope| format!("`{scope}`")).collect();
        let scopes = match scopes.as_slice() {
            [] => "it has none, and only reads".to_owned(),
            scopes => format!("it has {}", scopes.join(", ")),
        };
        let message = format!("this needs a token with the scope `{needed}`; {scopes}");
        Err(Problem::new(Kind::Forbidden, message))
    }

    /// Counts a connection or a request of theirs, if there may be one more.
    pub(crate) fn admit(&self, state: &State) -> Result<Option<Counted>, Problem> {
        let NewToken { user, role, .. } = &self.token.new;
        let most = Allowance::of(&state.gate.config(), user, *role).connections;
        let Some(most) = most else { return Ok(None) };
        let counted = state.open.admit(&user.as_str().into(), most);
        let counted = counted.ok_or_else(|| {
            let message = format!(
                "{most} connections and requests of yours are open already, which \
                 `server.connections_per_user` allows; wait for one"
            );
            Problem::new(Kind::TooMany, message).after(LATER)
        })?;
        Ok(Some(counted))
    }

    /// What they see, are told of and may stop.
    pub(crate) fn sees(&self) -> Sees {
        if self.is_owner() {
            return Sees::Everything;
        }
        Sees::Of { user: self.user().into(), agents: self.token.new.agents.clone() }
    }

    /// Whether it is for programs: a browser's is in nobody's hands but the person's.
    pub(crate) fn is_for_programs(&self) -> bool {
        self.token.new.kind == TokenKind::Api
    }

    /// Who answers, grants or takes back, as a person and not through an agent.
    pub(crate) fn person(&self) -> Caller {
        self.acting("person", MAIN)
    }

    fn acting(&self, agent: &str, session: &str) -> Caller {
        Caller {
            user: self.user().into(),
            agent: agent.into(),
            session: session.into(),
            sender: None,
            channel: Some(CHANNEL.into()),
            surface: None,
            provider: None,
            model: None,
            role: self.token.new.role,
            confined: Confined::Free,
            parent: None,
            left: None,
        }
    }

    /// Whether they may act through this agent.
    pub(crate) fn may_use(&self, agent: &str) -> bool {
        let agents = self.token.new.agents.as_ref();
        agents.is_none_or(|agents| agents.iter().any(|allowed| allowed == agent))
    }

    /// Who makes a call: user and role are the token's; agent and session are named, within what the token
    /// allows. What an agent was left when it was spawned is known to its session only, so nobody else
    /// makes calls there.
    pub(crate) fn caller(
        &self,
        config: &Config,
        names: CallerNames<'_>,
    ) -> Result<Caller, Problem> {
        let caller = self.speaker(config, names)?;
        if agent::is_reserved(&caller.session) {
            let message = format!(
                "calls in session `{}` are made by its agent only; sessions that begin with `request:` or \
                 `subagent:` are Toolgate's own, so name another one in `{SESSION}`",
                caller.session
            );
            return Err(Problem::new(Kind::Forbidden, message));
        }
        Ok(caller)
    }

    /// Who speaks to an agent: as [`Self::caller`], and also in sessions whose names Toolgate gave.
    pub(crate) fn speaker(
        &self,
        config: &Config,
        names: CallerNames<'_>,
    ) -> Result<Caller, Problem> {
        let CallerNames { agent, session, sender, channel } = names;
        self.check_sender(sender, channel)?;
        for name in [agent, session].into_iter().flatten() {
            if !is_name(name) {
                let message = format!(
                    "`{}` is no name of an agent or a session: that is 1 to {MOST} of `A-Z a-z 0-9 . _ : @ / + -`",
                    name.chars().take(MOST).collect::<String>().escape_debug()
                );
                return Err(Problem::new(Kind::Invalid, message));
            }
        }
        let agent = agent.unwrap_or(MAIN);
        if let Some(agents) = self.token.new.agents.as_ref().filter(|_| !self.may_use(agent)) {
            let allowed: Vec<_> = agents.iter().map(|name| format!("`{name}`")).collect();
            let message = format!(
                "this token may not act as agent `{agent}`, only as {}; name one in `{AGENT}`",
                allowed.join(", ")
            );
            return Err(Problem::new(Kind::Forbidden, message));
        }
        self.check_agent(config, agent)?;
        let caller = self.acting(agent, session.unwrap_or(MAIN));
        let sender = sender.map(Into::into);
        Ok(match channel {
            // Rules about the surface hold besides those about the channel behind it.
            Some(channel) => Caller {
                sender,
                channel: Some(channel.into()),
                surface: Some(CHANNEL.into()),
                ..caller
            },
            None => Caller { sender, ..caller },
        })
    }

    /// Refuses a sender or a channel that the token may not name, or that is no name.
    pub(crate) fn check_sender(
        &self,
        sender: Option<&str>,
        channel: Option<&str>,
    ) -> Result<(), Problem> {
        if sender.is_none() && channel.is_none() {
            return Ok(());
        }
        if !self.may(Scope::Senders) {
            let message = "this token may not name a sender or a channel; use one with the scope `senders`, \
                           such as `toolgate tokens add --may-name-senders` makes";
            return Err(Problem::new(Kind::Forbidden, message));
        }
        if let Some(sender) = sender.filter(|sender| !is_sender(sender)) {
            let message = format!(
                "`{}` is no name of a sender: that is 1 to {MOST} characters, none of them invisible",
                sender.chars().take(MOST).collect::<String>().escape_debug()
            );
            return Err(Problem::new(Kind::Invalid, message));
        }
        if let Some(channel) = channel.filter(|channel| !is_name(channel)) {
            let message = format!(
                "`{}` is no name of a channel: that is 1 to {MOST} of `A-Z a-z 0-9 . _ : @ / + -`",
                channel.chars().take(MOST).collect::<String>().escape_debug()
            );
            return Err(Problem::new(Kind::Invalid, message));
        }
        Ok(())
    }

    /// Refuses an agent that does not exist: nothing limits what it may do.
    pub(crate) fn check_agent(&self, config: &Config, agent: &str) -> Result<(), Problem> {
        if agent::has_agent(config, agent) {
            return Ok(());
        }
        let known = config.agents.keys().map(String::as_str).chain([MAIN]);
        let hint = match nearest(agent, known.filter(|known| self.may_use(known))) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`GET /v1/agents` lists them".to_owned(),
        };
        let agent = agent.escape_debug();
        Err(Problem::new(Kind::NotFound, format!("there is no agent `{agent}`; {hint}")))
    }
}

/// What headers name.
pub(crate) fn names(headers: &HeaderMap) -> Result<CallerNames<'_>, Problem> {
    Ok(CallerNames {
        agent: named(headers, AGENT)?,
        session: named(headers, SESSION)?,
        sender: named(headers, SENDER)?,
        channel: named(headers, SENDER_CHANNEL)?,
    })
}

/// A caller that speaks to an agent: rules about calls that come one by one do not hold for what an agent does by
/// itself, and those about the channel behind the request do.
pub(crate) fn in_conversation(caller: Caller) -> Caller {
    let channel = caller.channel.clone().filter(|_| caller.surface.is_some());
    Caller { channel, surface: None, ..caller }
}

/// Whether something can be the name of a sender: a number, an address, a handle.
fn is_sender(text: &str) -> bool {
    let visible = |c: char| !c.is_control() && !is_invisible(c);
    !text.trim().is_empty() && text.chars().count() <= MOST && text.chars().all(visible)
}

/// Characters that make two names look alike.
const fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether something can be the name of an agent or a session.
pub fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._:@/+-".contains(&byte);
    (1..=MOST).contains(&text.len()) && text.bytes().all(fits)
}

fn named<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Problem> {
    let mut all = headers.get_all(name).iter();
    let (first, second) = (all.next(), all.next());
    if second.is_some() {
        return Err(Problem::new(Kind::Invalid, format!("`{name}` is there twice; send it once")));
    }
    let read = |_| Problem::new(Kind::Invalid, format!("`{name}` has characters no name has"));
    first.map(|value| value.to_str().map_err(read)).transpose()
}
