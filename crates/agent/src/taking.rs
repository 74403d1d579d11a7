//! How what is said to an agent joins what was said before: results find their calls, and what was cut off
//! is put in order.

use std::time::SystemTime;

use provider::{Finish, Message, WireCall, WireResult};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{SessionChange, SessionState};
use tool::{Block, Caller, Cleanup};

use crate::{
    AgentError,
    calls::Called,
    names::answer_id,
    run::{Next, Run},
    transcript,
};

/// What a session must remember to go on after whoever asked comes back, or after a restart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// As whom it goes on by itself after a restart, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by_itself: Option<Caller>,
    /// What then becomes of it.
    #[serde(default)]
    pub(crate) cleanup: Cleanup,
    /// And when its time is up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<SystemTime>,
    /// Calls that whoever asked must make, and results that wait for theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parked: Option<Parked>,
}

/// Whether there is something that the model has not answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Something,
    /// It goes on by itself, and had answered everything.
    Nothing,
}

/// A turn of the model that called tools of ours and of whoever asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parked {
    /// Results of ours.
    pub(crate) kept: Vec<WireResult>,
    /// Calls of theirs: the id they were given, and the model's own.
    pub(crate) theirs: Vec<(String, Option<String>)>,
}

impl Run<'_> {
    /// Puts what is new behind what was said before.
    pub(crate) async fn take_in(&mut self, input: Vec<Message>) -> Result<Taken, AgentError> {
        if input.iter().any(is_blank) {
            return Err(AgentError::Invalid("the message is empty".to_owned()));
        }
        self.messages = transcript::load(self.db, &self.session).await?;
        if self.messages.is_empty() {
            let all = transcript::mend(input);
            if all.is_empty() {
                return Err(AgentError::Invalid("there is no message to answer".to_owned()));
            }
            return self.add_all(all).await.map(|_| Taken::Something);
        }
        let standing = self.standing();
        let mut new = transcript::fresh(input);
        if let Some(parked) = standing.parked.clone() {
            let given = take_results(&mut new);
            self.unpark(parked, given).await?;
        } else {
            self.mend_end().await?;
            // Results that answer no call of ours are those of a request that was repeated.
            take_results(&mut new);
        }
        // After an interruption clients send what they had sent once more.
        let interrupted = self.session.state == SessionState::Interrupted;
        let again = new.is_empty() || interrupted && self.asked_last(&new);
        if again && self.waits_for_model() {
            return Ok(Taken::Something);
        }
        if new.is_empty() && standing.by_itself.is_some() {
            self.text = self.last_words();
            return Ok(Taken::Nothing);
        }
        if new.is_empty() {
            let problem = "there is nothing new to answer: the last message is the agent's own";
            return Err(AgentError::Invalid(problem.to_owned()));
        }
        self.add_all(new).await.map(|_| Taken::Something)
    }

    fn standing(&self) -> Standing {
        let run = self.session.run.clone().unwrap_or_default();
        serde_json::from_value(run).unwrap_or_default()
    }

    /// What the model said last.
    fn last_words(&self) -> String {
        let said = self.messages.iter().rev().find_map(|message| match message {
            Message::Model(said) => Some(said.text.clone()),
            Message::User(_) | Message::Results(_) => None,
        });
        said.unwrap_or_default()
    }

    /// Whether the model has not answered what was said last.
    fn waits_for_model(&self) -> bool {
        matches!(self.messages.last(), Some(Message::User(_) | Message::Results(_)))
    }

    /// Whether `new` is what the user said last.
    fn asked_last(&self, new: &[Message]) -> bool {
        let is_user = |message: &&Message| matches!(message, Message::User(_));
        let asked: Vec<_> = self.messages.iter().rev().filter(is_user).take(new.len()).collect();
        !new.is_empty() && asked.iter().rev().copied().eq(new)
    }

    /// Calls without results at the end get them from the journal.
    async fn mend_end(&mut self) -> Result<(), AgentError> {
        let open = transcript::open_calls(&self.messages).to_vec();
        if open.is_empty() {
            return Ok(());
        }
        let results = self.agents.results_of_interrupted(&self.session, &open).await?;
        self.add_results(results).await
    }

    /// The results of whoever asked, with ours that waited for them.
    async fn unpark(&mut self, parked: Parked, given: Vec<WireResult>) -> Result<(), AgentError> {
        let calls = transcript::open_calls(&self.messages).to_vec();
        let own_id = |result: WireResult| {
            let theirs = parked.theirs.iter();
            let found = theirs.clone().find(|(id, _)| result.id.as_ref() == Some(id));
            WireResult { id: found.map_or(result.id, |(_, own)| own.clone()), ..result }
        };
        self.distrust(&calls, &given).await?;
        let all = parked.kept.iter().cloned().chain(given.into_iter().map(own_id)).collect();
        // Nothing is open if the process died right after this.
        if !calls.is_empty() {
            self.add_results(transcript::matched(&calls, all)).await?;
        }
        self.change(SessionChange { run: Some(json!(null)), ..SessionChange::default() }).await
    }

    /// Right behind their calls, whatever was said meanwhile.
    async fn add_results(&mut self, results: Vec<WireResult>) -> Result<(), AgentError> {
        self.add(Message::Results(results)).await?;
        self.messages = transcript::in_order(std::mem::take(&mut self.messages));
        Ok(())
    }

    /// What tools of whoever asked bring in is nobody's that we know.
    async fn distrust(&self, calls: &[WireCall], given: &[WireResult]) -> Result<(), AgentError> {
        let theirs = calls.iter().filter(|call| self.is_theirs(call));
        let mut names: Vec<_> = theirs.map(|call| call.name.as_str()).collect();
        names.dedup();
        if given.is_empty() {
            return Ok(());
        }
        for name in names {
            let source = format!("the client's tool `{name}`");
            self.agents.gate.distrust(&self.caller, &source).await?;
        }
        Ok(())
    }

    /// Our results stay with the session until whoever asked brings theirs.
    pub(crate) async fn park(
        &self,
        called: Vec<Called>,
        theirs: Vec<WireCall>,
    ) -> Result<Next, AgentError> {
        let given = |number: usize, call: WireCall| WireCall {
            id: Some(answer_id(&self.session.key.name, &self.id, number)),
            ..call
        };
        let ids: Vec<_> = theirs.iter().map(|call| call.id.clone()).collect();
        let theirs: Vec<_> = theirs.into_iter().enumerate().map(|(n, c)| given(n, c)).collect();
        let parked = Parked {
            kept: called.into_iter().map(|called| called.kept).collect(),
            theirs: theirs
                .iter()
                .map(|call| call.id.clone().unwrap_or_default())
                .zip(ids)
                .collect(),
        };
        let standing = json!(Standing { parked: Some(parked), ..Standing::default() });
        self.change(SessionChange { run: Some(standing), ..SessionChange::default() }).await?;
        Ok(Next::Done(Finish::Calls, theirs))
    }
}

/// Whether somebody said nothing.
fn is_blank(message: &Message) -> bool {
    let Message::User(blocks) = message else { return false };
    let says_nothing = |block: &Block| matches!(block, Block::Text(text) if text.trim().is_empty());
    blocks.iter().all(says_nothing)
}

/// The results in what is new, taken out.
fn take_results(new: &mut Vec<Message>) -> Vec<WireResult> {
    let (mut results, mut rest) = (Vec::new(), Vec::new());
    for message in std::mem::take(new) {
        match message {
            Message::Results(found) => results.extend(found),
            other @ (Message::User(_) | Message::Model(_)) => rest.push(other),
        }
    }
    *new = rest;
    results
}
