//! One run: a message goes in, the model and its tools take turns, an answer comes out.

use std::{sync::Arc, time::Duration};

use provider::{
    CallNote, DefinitionList, Finish, Message, ModelMessage, Options, ToolChoice, Usage, WireCall,
};
use store::{Db, Session, SessionChange, Spent};
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
    taking::Taken,
    transcript,
};

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
    pub(crate) budget: Arc<Budget>,
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
pub(crate) enum Next {
    /// The model goes on.
    Again,
    /// The run is over.
    Done(Finish, Vec<WireCall>),
}

impl Run<'_> {
    /// Takes turns until there is an answer.
    pub(crate) async fn go(mut self, input: Vec<Message>) -> Result<Answer, AgentError> {
        let taken = self.take_in(input).await?;
        self.emit(Event::Started { run: self.id.clone(), model: self.model() }).await;
        let ended = self.take_turns(taken).await;
        let how = match &ended {
            Ok((_, calls)) if !calls.is_empty() => "calls",
            Ok((Finish::Stop, _)) => "done",
            Ok(_) => "stopped",
            Err(AgentError::Cancelled | AgentError::Model(ModelError::Cancelled)) => "cancelled",
            Err(_) => "failed",
        };
        self.emit(Event::Ended { run: self.id.clone(), how, usage: self.usage }).await;
        let (finish, calls) = ended?;
        let (session, model) = (self.session.key.clone(), self.model());
        let Self { id, text, usage, notes, .. } = self;
        Ok(Answer { run: id, session, model, text, calls, finish, usage, tool_calls: notes })
    }

    async fn take_turns(&mut self, taken: Taken) -> Result<(Finish, Vec<WireCall>), AgentError> {
        // It had said all it had to say, and waited for agents it started.
        if taken == Taken::Nothing
            && let Next::Done(finish, calls) = self.rest(Finish::Stop).await?
        {
            return Ok((finish, calls));
        }
        let mut last = false;
        loop {
            if self.cancel.is_cancelled() {
                return Err(AgentError::Cancelled);
            }
            let no_calls = self.budget.no_calls_left();
            if let Some(used_up) = self.budget.exhausted().or(no_calls.clone().filter(|_| last)) {
                let why = format!("[The run ends here: it has used up {used_up}.]");
                return self.stop(&why).await;
            }
            // Once more, to say what it has found.
            last = no_calls.is_some();
            if last && self.theirs.is_empty() {
                self.options.tool_choice = ToolChoice::Never;
            }
            if let Next::Done(finish, calls) = self.turn().await? {
                return Ok((finish, calls));
            }
        }
    }

    /// One answer of the model, and the calls in it.
    async fn turn(&mut self) -> Result<Next, AgentError> {
        self.repetition.next_turn();
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
        // Which tool to call was about the first answer: a model that must call one never ends.
        self.options.tool_choice = match std::mem::take(&mut self.options.tool_choice) {
            ToolChoice::Never => ToolChoice::Never,
            ToolChoice::Auto | ToolChoice::Required | ToolChoice::Named(_) => ToolChoice::Auto,
        };
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

    async fn take_results(
        &mut self,
        calls: &[WireCall],
        called: Vec<Called>,
    ) -> Result<Next, AgentError> {
        let mut over = None;
        let mut results = Vec::with_capacity(called.len());
        let mut kept = Vec::with_capacity(called.len());
        for (call, mut called) in calls.iter().zip(called) {
            if self.agents.ending.is_cancelled() {
                called.cut_off(call);
            }
            match self.repetition.count(call, &called.result, called.course) {
                Repeated::No => {}
                Repeated::Tell(times) => {
                    let hint = format!(
                        "[This same call has come to this same result {times} times. Do something else.]"
                    );
                    called.result.blocks.push(Block::Text(hint));
                }
                Repeated::Wait(times) => {
                    let hint = format!(
                        "[Nothing has changed in {times} looks. Wait longer within one call, or do \
                         something else meanwhile.]"
                    );
                    called.result.blocks.push(Block::Text(hint));
                }
                Repeated::End(times) => over = Some((call.name.clone(), times)),
            }
            results.push(called.result);
            kept.push(called.kept);
        }
        if let Some(nearly) = self.budget.nearly_exhausted()
            && let Some(last) = results.last_mut()
        {
            let hint = format!(
                "[This run has used {nearly}. When all of it is used, the run ends: finish the most \
                 important part and say what is left.]"
            );
            last.blocks.push(Block::Text(hint));
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
        let mut called = self.call_in_time(message, now).await;
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

    /// Calls that are under way when the time of the run is up are stopped.
    async fn call_in_time(&self, message: &str, calls: &[WireCall]) -> Vec<Called> {
        let stop = self.cancel.child_token();
        let mut called = std::pin::pin!(call_all(self, &stop, message, calls));
        tokio::select! {
            biased;
            called = &mut called => return called,
            () = tokio::time::sleep_until(self.budget.until()) => stop.cancel(),
        }
        called.await
    }

    /// What the run was told since it last looked.
    async fn hear(&mut self) -> Result<(), AgentError> {
        for text in self.lane.heard() {
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

    pub(crate) fn is_theirs(&self, call: &WireCall) -> bool {
        self.theirs.iter().any(|tool| *tool.name == *call.name)
    }

    /// `provider/model`.
    fn model(&self) -> String {
        self.choice.to_string()
    }

    pub(crate) async fn account(&self, spent: Spent) {
        if let Err(error) = self.db.spend(&self.session.key, spent).await {
            tracing::warn!(%error, "what a session used could not be counted");
        }
    }

    /// Gives the number of the message in the session.
    pub(crate) async fn add(&mut self, message: Message) -> Result<u64, AgentError> {
        self.add_all(vec![message]).await
    }

    /// Stored before anything is done about it, so that a restart finds it. Gives the number of the first.
    pub(crate) async fn add_all(&mut self, messages: Vec<Message>) -> Result<u64, AgentError> {
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

    pub(crate) async fn change(&self, change: SessionChange) -> Result<(), AgentError> {
        self.db.change_session(&self.session.key, change, self.now()).await?;
        Ok(())
    }

    /// A sentence of ours in the model's answer.
    async fn say(&mut self, text: String) {
        let gap = if self.text.is_empty() { "" } else { "\n\n" };
        self.text.push_str(gap);
        self.text.push_str(&text);
        self.sink.send(Event::Text { text: format!("{gap}{text}") }, &self.cancel).await;
    }

    pub(crate) async fn emit(&self, event: Event) {
        self.tell(&event);
        self.sink.send(event, &self.cancel).await;
    }

    fn tell(&self, event: &Event) {
        self.agents.tell(&self.session.key, event);
    }

    pub(crate) fn now(&self) -> std::time::SystemTime {
        self.agents.clock.now()
    }
}

/// How long a call took, for the guard against repetition.
pub(crate) fn took(note: &CallNote) -> Duration {
    Duration::from_millis(note.duration_ms)
}
