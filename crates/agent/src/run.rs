//! One run: a message goes in, the model and its tools take turns, an answer comes out.

use std::{sync::Arc, time::Duration};

use provider::{
    CallNote, DefinitionList, Finish, Message, ModelMessage, Options, Prompt, Usage, WireCall,
    WireResult,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::{Db, Session, SessionChange, SessionState, Spent};
use tokio_util::sync::CancellationToken;
use tool::{Block, Caller, ToolInfo};

use crate::{
    AgentError, Answer, Event,
    agents::Inner,
    budget::Budget,
    calls::{Called, call_all},
    compact,
    events::Sink,
    lanes::{Closing, Lane},
    model::{Choice, ModelError},
    repetition::{Repeated, Repetition},
    transcript,
};

/// A conversation is summed up when it fills this part of what its model takes.
const FULL_PERCENT: usize = 80;
/// What then stays as it was said.
const KEPT_PERCENT: usize = 30;
/// What of each message goes into a summary.
const SUMMARY_CHARS: usize = 4_000;
/// What the model is told when it is to sum up.
const SUM_UP: &str = "Sum up the conversation below for yourself, so that you can go on with it without \
having read it: what was asked, what was decided, what was done and found (names, paths, numbers, ids \
exactly), what is open. No introduction.";

/// What a session must remember to go on after whoever asked comes back, or after a restart.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Standing {
    /// As whom it goes on by itself after a restart, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by_itself: Option<Caller>,
    /// Calls that whoever asked must make, and results that wait for theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parked: Option<Parked>,
}

/// A turn of the model that called tools of ours and of whoever asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Parked {
    /// Results of ours.
    pub(crate) kept: Vec<WireResult>,
    /// Calls of theirs: the id they were given, and the model's own.
    pub(crate) theirs: Vec<(String, Option<String>)>,
}

/// A run that goes on.
pub(crate) struct Run<'a> {
    pub(crate) agents: &'a Inner,
    pub(crate) db: &'a Db,
    pub(crate) id: String,
    pub(crate) session: Session,
    pub(crate) caller: Arc<Caller>,
    pub(crate) choice: Choice,
    pub(crate) system: String,
    /// Tools of whoever asked.
    pub(crate) theirs: Vec<ToolInfo>,
    pub(crate) options: Options,
    pub(crate) budget: Budget,
    pub(crate) lane: &'a Lane,
    pub(crate) sink: Sink,
    pub(crate) cancel: CancellationToken,
    pub(crate) messages: Vec<Message>,
    pub(crate) repetition: Repetition,
    pub(crate) text: String,
    pub(crate) usage: Usage,
    pub(crate) notes: Vec<CallNote>,
}

/// How a turn of the model ended.
enum Next {
    /// The model goes on.
    Again,
    /// The run is over.
    Done(Finish, Vec<WireCall>),
}

impl Run<'_> {
    /// Takes turns until there is an answer.
    pub(crate) async fn go(mut self, input: Vec<Message>) -> Result<Answer, AgentError> {
        self.take_in(input).await?;
        self.emit(Event::Started { run: self.id.clone(), model: self.model() }).await;
        let ended = loop {
            if self.cancel.is_cancelled() {
                break Err(AgentError::Cancelled);
            }
            if let Some(used_up) = self.budget.exhausted() {
                let why = format!("[The run ends here: it has used up {used_up}.]");
                break self.stop(&why).await;
            }
            match self.turn().await {
                Ok(Next::Again) => {}
                Ok(Next::Done(finish, calls)) => break Ok((finish, calls)),
                Err(error) => break Err(error),
            }
        };
        let how = match &ended {
            Ok((_, calls)) if !calls.is_empty() => "calls",
            Ok((Finish::Stop, _)) => "done",
            Ok(_) => "stopped",
            Err(AgentError::Cancelled | AgentError::Model(ModelError::Cancelled)) => "cancelled",
            Err(_) => "failed",
        };
        self.emit(Event::Ended { run: self.id.clone(), how }).await;
        let (finish, calls) = ended?;
        let (session, model) = (self.session.key.clone(), self.model());
        let Self { id, text, usage, notes, .. } = self;
        Ok(Answer { run: id, session, model, text, calls, finish, usage, tool_calls: notes })
    }

    /// One answer of the model, and the calls in it.
    async fn turn(&mut self) -> Result<Next, AgentError> {
        self.hear().await?;
        let definitions = self.definitions();
        let said = match self.ask(&definitions).await {
            // Its time is up, and the next look at the budget says so.
            Err(AgentError::Model(ModelError::Cancelled)) if !self.cancel.is_cancelled() => {
                return Ok(Next::Again);
            }
            other => other?,
        };
        let finish = said.finish.clone();
        let mut message = ModelMessage::new(&self.choice.provider, self.choice.format, said);
        // By our own names, which the next model may have to be told in another way.
        for call in &mut message.calls {
            call.name = definitions.names.inward(&call.name).into_owned();
        }
        let calls = message.calls.clone();
        let number = self.add(Message::Model(message)).await?;
        if calls.is_empty() {
            return self.rest(finish).await;
        }
        let (theirs, ours): (Vec<_>, Vec<_>) =
            calls.into_iter().partition(|call| self.is_theirs(call));
        let called = self.call(&transcript::message_id(&self.session, number), &ours).await;
        if !theirs.is_empty() {
            return self.park(called, theirs).await;
        }
        self.take_results(&ours, called).await
    }

    /// The model has nothing to call. It still waits for agents it started, and hears what it was
    /// told meanwhile.
    async fn rest(&self, finish: Finish) -> Result<Next, AgentError> {
        loop {
            match self.lane.close() {
                Closing::Closed => return Ok(Next::Done(finish, Vec::new())),
                Closing::News => return Ok(Next::Again),
                Closing::Children => {}
            }
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Err(AgentError::Cancelled),
                () = tokio::time::sleep_until(self.budget.until()) => return Ok(Next::Again),
                () = self.lane.news() => {}
            }
        }
    }

    /// Ends the run with a sentence that says why.
    async fn stop(&mut self, why: &str) -> Result<(Finish, Vec<WireCall>), AgentError> {
        self.say(why.to_owned()).await;
        self.add(Message::Model(ModelMessage {
            text: why.to_owned(),
            calls: Vec::new(),
            raw: None,
        }))
        .await?;
        Ok((Finish::Length, Vec::new()))
    }

    /// Puts what is new behind what was said before.
    async fn take_in(&mut self, input: Vec<Message>) -> Result<(), AgentError> {
        self.messages = transcript::load(self.db, &self.session).await?;
        if self.messages.is_empty() {
            let all = transcript::mend(input);
            if all.is_empty() {
                return Err(AgentError::Invalid("there is no message to answer".to_owned()));
            }
            return self.add_all(all).await.map(drop);
        }
        let standing = self.standing();
        let mut new = transcript::fresh(input);
        if let Some(parked) = standing.parked {
            let given = take_results(&mut new);
            self.unpark(parked, given).await?;
        } else {
            self.mend_end().await?;
            // Results that answer no call of ours are those of a request that was repeated.
            take_results(&mut new);
        }
        // After an interruption clients send what they had sent once more.
        let again = self.session.state == SessionState::Interrupted && self.asked_last(&new);
        if again || (new.is_empty() && self.waits_for_model()) {
            return Ok(());
        }
        if new.is_empty() {
            let problem = "there is nothing new to answer: the last message is the agent's own";
            return Err(AgentError::Invalid(problem.to_owned()));
        }
        self.add_all(new).await.map(drop)
    }

    fn standing(&self) -> Standing {
        let run = self.session.run.clone().unwrap_or_default();
        serde_json::from_value(run).unwrap_or_default()
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
        self.add(Message::Results(results)).await.map(drop)
    }

    /// The results of whoever asked, with ours that waited for them.
    async fn unpark(&mut self, parked: Parked, given: Vec<WireResult>) -> Result<(), AgentError> {
        let calls = transcript::open_calls(&self.messages).to_vec();
        let own_id = |result: WireResult| {
            let theirs = parked.theirs.iter();
            let found = theirs.clone().find(|(id, _)| result.id.as_ref() == Some(id));
            WireResult { id: found.map_or(result.id, |(_, own)| own.clone()), ..result }
        };
        let all = parked.kept.iter().cloned().chain(given.into_iter().map(own_id)).collect();
        self.change(SessionChange { run: Some(json!(null)), ..SessionChange::default() }).await?;
        self.add(Message::Results(transcript::matched(&calls, all))).await.map(drop)
    }

    /// Our results stay with the session until whoever asked brings theirs.
    async fn park(&self, called: Vec<Called>, theirs: Vec<WireCall>) -> Result<Next, AgentError> {
        let given = |number: usize, call: WireCall| WireCall {
            id: Some(format!("{}_{number}", self.id)),
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
        let standing = json!(Standing { by_itself: None, parked: Some(parked) });
        self.change(SessionChange { run: Some(standing), ..SessionChange::default() }).await?;
        Ok(Next::Done(Finish::Calls, theirs))
    }

    async fn take_results(
        &mut self,
        calls: &[WireCall],
        called: Vec<Called>,
    ) -> Result<Next, AgentError> {
        let mut over = None;
        let mut results = Vec::with_capacity(called.len());
        let mut kept = Vec::with_capacity(called.len());
        for (call, mut called) in calls.iter().zip(called) {
            match self.repetition.count(call, &called.result, called.took) {
                Repeated::No => {}
                Repeated::Tell(times) => {
                    let hint = format!(
                        "[This same call has come to this same result {times} times. Do something else.]"
                    );
                    called.result.blocks.push(Block::Text(hint));
                }
                Repeated::End(times) => over = Some((call.name.clone(), times)),
            }
            results.push(called.result);
            kept.push(called.kept);
        }
        // What a model saw once and a transcript does not keep is in this run's memory only.
        let number = self.messages.len();
        self.add(Message::Results(kept)).await?;
        if let Some(last) = self.messages.get_mut(number) {
            *last = Message::Results(results);
        }
        if self.cancel.is_cancelled() {
            return Err(AgentError::Cancelled);
        }
        let Some((name, times)) = over else { return Ok(Next::Again) };
        let why = format!(
            "[The run ends here: `{name}` was called {times} times with the same arguments and came \
             to the same result each time.]"
        );
        let (finish, calls) = self.stop(&why).await?;
        Ok(Next::Done(finish, calls))
    }

    /// Runs calls of ours in a message, as many as the budget allows.
    async fn call(&mut self, message: &str, calls: &[WireCall]) -> Vec<Called> {
        let allowed = self.budget.take_calls(calls.len());
        let (now, late) = calls.split_at_checked(allowed).unwrap_or((calls, &[]));
        let mut called = call_all(self, message, now).await;
        called.extend(late.iter().map(|call| {
            Called::refused(
                call,
                "rate_limited: this run has used up its calls; this one did not run",
            )
        }));
        self.notes.extend(called.iter().filter_map(|called| called.note.clone()));
        self.account(Spent { calls: called.len() as u64, ..Spent::default() }).await;
        called
    }

    /// What the run was told since it last looked.
    async fn hear(&mut self) -> Result<(), AgentError> {
        for text in self.lane.heard() {
            self.emit(Event::Message { role: "user", text: text.clone() }).await;
            self.add(Message::User(vec![Block::Text(text)])).await?;
        }
        Ok(())
    }

    /// The tools it has now: ours in name order, then those of whoever asked, who wins where the names
    /// are the same.
    fn definitions(&self) -> Arc<DefinitionList> {
        let view = self.agents.gate.view(&self.caller);
        let hidden = |name: &str| self.theirs.iter().any(|tool| *tool.name == *name);
        let ours = view.tools().map(|entry| entry.info()).filter(|tool| !hidden(&tool.name));
        let (ours, format): (Vec<_>, _) = (ours.cloned().collect(), self.choice.format);
        if self.theirs.is_empty() {
            return self.agents.definitions.list(format, &ours);
        }
        Arc::new(self.agents.definitions.joined(format, &ours, &self.theirs))
    }

    fn is_theirs(&self, call: &WireCall) -> bool {
        self.theirs.iter().any(|tool| *tool.name == *call.name)
    }

    /// Asks the model; a conversation that has become too long is summed up first.
    async fn ask(
        &mut self,
        definitions: &DefinitionList,
    ) -> Result<provider::Assembled, AgentError> {
        if self.is_full() {
            self.compact().await?;
        }
        let mut summed_up = false;
        loop {
            match self.stream(definitions).await {
                Err(ModelError::ContextTooLong { .. }) if !summed_up => {
                    summed_up = true;
                    self.compact().await?;
                }
                other => return Ok(other?),
            }
        }
    }

    fn is_full(&self) -> bool {
        compact::tokens(&self.messages) > self.share(FULL_PERCENT)
    }

    /// This part of what the model takes, in tokens.
    fn share(&self, percent: usize) -> usize {
        usize::try_from(self.choice.context_tokens).unwrap_or(usize::MAX).saturating_mul(percent)
            / 100
    }

    /// `provider/model`.
    fn model(&self) -> String {
        self.choice.to_string()
    }

    async fn stream(
        &mut self,
        definitions: &DefinitionList,
    ) -> Result<provider::Assembled, ModelError> {
        let prompt = Prompt {
            provider: &self.choice.provider,
            model: &self.choice.model,
            system: Some(&self.system),
            messages: &self.messages,
            tools: Some(definitions),
            options: &self.options,
        };
        let (mut said, mut late) = (String::new(), String::new());
        let (sink, begun) = (self.sink.clone(), !self.text.is_empty());
        let mut on_text = |piece: &str| {
            let gap = if begun && said.is_empty() { "\n\n" } else { "" };
            said.push_str(piece);
            let text = format!("{late}{gap}{piece}");
            late = sink.offer(text).unwrap_or_default();
        };
        let models = self.agents.models.load_full();
        let until = tokio::time::sleep_until(self.budget.until());
        let answer = tokio::select! {
            answer = models.stream(&self.choice, &prompt, &self.cancel, &mut on_text) => answer,
            () = until => Err(ModelError::Cancelled),
        };
        if !late.is_empty() {
            self.sink.send(Event::Text { text: late }).await;
        }
        if !said.is_empty() {
            if begun {
                self.text.push_str("\n\n");
            }
            self.text.push_str(&said);
        }
        let answer = answer?;
        self.spend(answer.usage.unwrap_or_default()).await;
        Ok(answer)
    }

    async fn spend(&mut self, usage: Usage) {
        let cost = self.choice.price.map_or(0, |price| price.cost_micros(&usage));
        self.usage = plus(self.usage, usage);
        self.budget.spend(usage.input.saturating_add(usage.output), cost);
        self.account(Spent {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cost_micros: cost,
            calls: 0,
        })
        .await;
    }

    async fn account(&self, spent: Spent) {
        if let Err(error) = self.db.spend(&self.session.key, spent).await {
            tracing::warn!(%error, "what a session used could not be counted");
        }
    }

    /// Replaces the beginning of the conversation by a summary.
    async fn compact(&mut self) -> Result<(), AgentError> {
        let Some(at) = compact::cut(&self.messages, self.share(KEPT_PERCENT)) else {
            return Ok(());
        };
        let tail = self.messages.split_off(at);
        let head = std::mem::take(&mut self.messages);
        let summary = self.sum_up(&head).await;
        let number =
            transcript::add_summary(self.db, &self.session.key, &summary, self.now()).await?;
        transcript::add(self.db, &self.session.key, &tail, self.now()).await?;
        let from = SessionChange { context_from: Some(number), ..SessionChange::default() };
        self.change(from).await?;
        self.session.context_from = number;
        self.messages = transcript::load(self.db, &self.session).await?;
        Ok(())
    }

    /// The model sums up; if it cannot, the beginnings of the messages must do.
    async fn sum_up(&mut self, head: &[Message]) -> String {
        let text = compact::as_text(head, SUMMARY_CHARS);
        let asked = [Message::User(vec![Block::Text(format!("{SUM_UP}\n\n{text}"))])];
        let prompt = Prompt {
            provider: &self.choice.provider,
            model: &self.choice.model,
            system: None,
            messages: &asked,
            tools: None,
            options: &Options::default(),
        };
        let models = self.agents.models.load_full();
        match models.stream(&self.choice, &prompt, &self.cancel, &mut |_| ()).await {
            Ok(answer) if !answer.text.trim().is_empty() => {
                self.spend(answer.usage.unwrap_or_default()).await;
                answer.text
            }
            Ok(_) | Err(_) => compact::as_text(head, 200),
        }
    }

    /// Gives the number of the message in the session.
    async fn add(&mut self, message: Message) -> Result<u64, AgentError> {
        self.add_all(vec![message]).await
    }

    /// Stored before anything is done about it, so that a restart finds it. Gives the number of the first.
    async fn add_all(&mut self, messages: Vec<Message>) -> Result<u64, AgentError> {
        let key = &self.session.key;
        let number = transcript::add(self.db, key, &messages, self.now()).await?;
        for message in &messages {
            let (role, text) = match message {
                Message::User(blocks) => ("user", compact::text_of(blocks)),
                Message::Model(said) => ("assistant", said.text.clone()),
                Message::Results(_) => continue,
            };
            self.tell(&Event::Message { role, text });
        }
        self.messages.extend(messages);
        Ok(number)
    }

    async fn change(&self, change: SessionChange) -> Result<(), AgentError> {
        self.db.change_session(&self.session.key, change, self.now()).await?;
        Ok(())
    }

    /// A sentence of ours in the model's answer.
    async fn say(&mut self, text: String) {
        let gap = if self.text.is_empty() { "" } else { "\n\n" };
        self.text.push_str(gap);
        self.text.push_str(&text);
        self.sink.send(Event::Text { text: format!("{gap}{text}") }).await;
    }

    pub(crate) async fn emit(&self, event: Event) {
        self.tell(&event);
        self.sink.send(event).await;
    }

    fn tell(&self, event: &Event) {
        self.agents.tell(&self.session.key, event);
    }

    fn now(&self) -> std::time::SystemTime {
        self.agents.clock.now()
    }
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

/// How long a call took, for the guard against repetition.
pub(crate) fn took(note: &CallNote) -> Duration {
    Duration::from_millis(note.duration_ms)
}

fn plus(one: Usage, other: Usage) -> Usage {
    Usage {
        input: one.input.saturating_add(other.input),
        output: one.output.saturating_add(other.output),
        cache_read: one.cache_read.saturating_add(other.cache_read),
        cache_write: one.cache_write.saturating_add(other.cache_write),
    }
}
