//! Messages from one session to another.

use std::{sync::Arc, time::Duration};

use store::{Session, SessionFilter};
use tokio::time::timeout;
use tool::{Addressee, Caller, Cleanup, SendMessage, SendStatus, Sent};

use super::look::caller_of;
use crate::{
    Admitted, AgentError, Answer, Input,
    acting::rights,
    agents::{Inner, Start, key_of, new_id},
};

impl Inner {
    pub(crate) async fn send(
        self: &Arc<Self>,
        caller: &Caller,
        message: SendMessage,
    ) -> Result<Sent, AgentError> {
        let SendMessage { to, text, wait } = message;
        let session = self.addressee(caller, to).await?;
        self.say(caller, &session, text, wait).await
    }

    async fn addressee(&self, caller: &Caller, to: Addressee) -> Result<Session, AgentError> {
        let (label, agent) = match to {
            Addressee::Key(key) => return self.visible(caller, &key).await,
            Addressee::Label(label, agent) => (label, agent),
        };
        let filter = SessionFilter {
            user: Some(caller.user.to_string()),
            agents: vec![agent.unwrap_or_else(|| caller.agent.to_string())],
            label: Some(label.clone()),
            limit: 2,
            ..SessionFilter::default()
        };
        let found = self.gate.db().await?.sessions(&filter).await?;
        match found.as_slice() {
            [one] => self.visible(caller, &one.key.to_string()).await,
            [] => Err(AgentError::UnknownSession(label)),
            [_, ..] => Err(AgentError::Invalid(format!(
                "more than one session has the label `{label}`; give `sessionKey` instead"
            ))),
        }
    }

    /// Says something in a session: to the run that goes on there, or as a new one. What it does then
    /// is done with no more rights than `caller` has.
    pub(crate) async fn say(
        self: &Arc<Self>,
        caller: &Caller,
        session: &Session,
        text: String,
        wait: Duration,
    ) -> Result<Sent, AgentError> {
        let key = session.key.clone();
        let sent = |status, reason: Option<&str>| Sent {
            run_id: None,
            status,
            session_key: Some(key.to_string()),
            reply: None,
            reason: reason.map(str::to_owned),
            untrusted: None,
        };
        if key == key_of(caller) {
            let reason = "a session cannot send to itself; just say it";
            return Ok(sent(SendStatus::Forbidden, Some(reason)));
        }
        let most = self.gate.config().tools.max_depth.value as usize;
        if caller.depth() >= most {
            let reason = format!("agents may set each other to work only {most} deep");
            return Ok(sent(SendStatus::Forbidden, Some(&reason)));
        }
        // What the sender has read may stand in the message.
        let inherit = async || self.gate.inherit_sources(caller, &caller_of(&key)).await;
        let from = key_of(caller);
        let text = format!("[Message from `{from}`]\n{text}");
        // Only an agent of its own is told something in the middle of its work: a run that goes on
        // has its own rights, whoever speaks.
        let own = is_own(caller, session)?;
        let text = match self.lanes.find(&key).filter(|_| own) {
            Some(lane) => {
                inherit().await?;
                match lane.steer(text) {
                    Ok(()) => {
                        let reason = "it is at work and reads the message as soon as it can";
                        return Ok(sent(SendStatus::Accepted, Some(reason)));
                    }
                    Err(text) => text,
                }
            }
            None => text,
        };
        let (id, input) = (new_id(), Input::text(text));
        // It may go on when nobody waits for it any more, so it counts like one that a person began.
        let admitted = self.admit(caller)?;
        inherit().await?;
        let running = self.clone().detached(speaking(caller, session), &id, input, admitted);
        if wait.is_zero() {
            return Ok(Sent { run_id: Some(id), ..sent(SendStatus::Accepted, None) });
        }
        let answer = timeout(wait, running).await;
        let (status, reply, reason) = match answer {
            Ok(Ok(Ok(answer))) => (SendStatus::Ok, Some(answer.text), None),
            Ok(Ok(Err(error))) => (SendStatus::Error, None, Some(error.to_string())),
            Ok(Err(_)) => (SendStatus::Error, None, Some("it ended".to_owned())),
            Err(_) => (
                SendStatus::Timeout,
                None,
                Some("it goes on; look at its history later".to_owned()),
            ),
        };
        let untrusted = match &reply {
            Some(_) => self.untrusted(&key).await?,
            None => None,
        };
        Ok(Sent { run_id: Some(id), reply, untrusted, ..sent(status, reason.as_deref()) })
    }

    /// A run that nobody waits for.
    pub(crate) fn detached(
        self: Arc<Self>,
        caller: Caller,
        id: &str,
        input: Input,
        admitted: Admitted,
    ) -> tokio::task::JoinHandle<Result<Answer, AgentError>> {
        let above = caller.parent.as_deref().and_then(|above| self.lanes.find(&key_of(above)));
        let start = Start {
            id: id.to_owned(),
            input,
            above: above.and_then(|lane| lane.budget()),
            ..Start::by_itself(Cleanup::Keep, &self.ending)
        };
        tokio::spawn(async move {
            let _counted = admitted;
            let answer = Box::pin(self.start(&caller, start)).await;
            if let Err(error) = &answer {
                let session = key_of(&caller);
                tracing::warn!(%session, %error, "a run that nobody waits for failed");
            }
            answer
        })
    }
}

/// Whether the agent of this session is below this very caller, so that its rights are within its own.
/// That the caller's session started it is not enough: others may speak there, with fewer rights.
fn is_own(caller: &Caller, session: &Session) -> Result<bool, AgentError> {
    let spawned = rights(session)?;
    let caller = caller.without_models();
    Ok(spawned.is_some_and(|spawned| {
        spawned.without_models().chain().skip(1).any(|above| *above == caller)
    }))
}

/// Whoever speaks in a session because `caller` sent something there: its agent, below `caller`.
fn speaking(caller: &Caller, session: &Session) -> Caller {
    Caller {
        agent: session.key.agent.as_str().into(),
        session: session.key.name.as_str().into(),
        sender: None,
        channel: None,
        surface: None,
        provider: None,
        model: None,
        parent: Some(Arc::new(caller.clone())),
        left: None,
        ..caller.clone()
    }
}
