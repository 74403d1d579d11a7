//! Writes the journal.

use std::{
    borrow::Cow,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use policy::Decision;
use serde_json::{Value, json};
use store::{Durability, Ending, Intent, Record as JournalRecord};
use tokio::sync::watch;
use tool::{CallId, Caller, Effects, Live, Outcome, ToolError, ToolResult, is_large};

use crate::{
    call::{Call, Learning},
    observer::{Finished, Started},
    outcome::meta,
    pipeline::{Next, Stage},
    shared::Shared,
    unrecorded,
};

/// Records an intent before the call and an outcome after it, refusals included. A member who is refused too
/// often is refused before anything is looked at; the journal then has one entry for many calls, with
/// their number.
#[derive(Debug)]
pub(crate) struct Record(pub(crate) Arc<Shared>);

impl Stage for Record {
    const NAME: &'static str = "record";

    async fn handle(&self, mut call: Box<Call>, next: Next<'_>) -> ToolResult {
        let rate = self.0.settings.load().refusal_rate(&call.caller);
        if let Some(rate) = rate
            && let Err(error) = self.0.refusals.admit(&call.caller.user, rate)
        {
            unrecorded::count(&self.0, &call, rate);
            return Err(error);
        }
        let entry = Arc::new(OpenEntry::new(&self.0, &call));
        call.entry = Some(entry.clone());
        entry.started();
        let result = next.run(call).await;
        end(&entry.live).await;
        if let Some(rate) = rate.filter(|_| entry.is_refusal(&result)) {
            self.0.refusals.count(&entry.caller.user, rate);
        }
        let result = entry.close(&result).await.and(result);
        entry.finished(&result);
        result
    }
}

/// From here on the call's handles refuse; a change that is being made is waited for.
async fn end(live: &Arc<Live>) {
    if !live.try_end() {
        let live = live.clone();
        // The only failure is a panic in `end`, and then there is nothing left to wait for.
        let _ = tokio::task::spawn_blocking(move || live.end()).await;
    }
}

/// An entry of the journal without an outcome yet.
#[derive(Debug)]
pub(crate) struct OpenEntry {
    shared: Arc<Shared>,
    call: CallId,
    provider_call_id: Option<String>,
    message_id: Option<String>,
    caller: Arc<Caller>,
    name: String,
    learnt: Arc<Learning>,
    live: Arc<Live>,
    begun: AtomicBool,
    /// Whether the intent is the journal's to write.
    handed_over: AtomicBool,
    /// While a large one is made and written.
    writing: OnceLock<watch::Receiver<()>>,
    closed: AtomicBool,
}

impl OpenEntry {
    fn new(shared: &Arc<Shared>, call: &Call) -> Self {
        Self {
            shared: shared.clone(),
            call: call.id,
            provider_call_id: call.provider_call_id.clone(),
            message_id: call.message_id.clone(),
            caller: call.caller.clone(),
            name: call.name.clone(),
            learnt: call.learnt.clone(),
            live: call.live.clone(),
            begun: AtomicBool::new(false),
            handed_over: AtomicBool::new(false),
            writing: OnceLock::new(),
            closed: AtomicBool::new(false),
        }
    }

    fn started(&self) {
        if self.shared.observers.is_empty() {
            return;
        }
        let settings = self.shared.settings.load();
        let name = settings.redactor.text(&self.name);
        let cancel = self.live.cancellation();
        let started = Started { call: self.call, caller: &self.caller, name: &name, cancel };
        self.shared.observers.iter().for_each(|observer| observer.started(started));
    }

    fn finished(&self, result: &ToolResult) {
        if self.shared.observers.is_empty() {
            return;
        }
        let meta = meta(self.call, &self.learnt, &self.live);
        let tool = self.learnt.now().tool.clone();
        let finished = Finished {
            call: self.call,
            caller: &self.caller,
            tool: tool.as_ref(),
            result,
            meta: &meta,
            took: self.learnt.elapsed(),
        };
        self.shared.observers.iter().for_each(|observer| observer.finished(finished));
    }

    /// Whether the call was refused before anything could come of it.
    fn is_refusal(&self, result: &ToolResult) -> bool {
        let refused = result.as_ref().is_err_and(|error| !matches!(error, ToolError::Cancelled));
        refused && !self.begun.load(Ordering::Relaxed) && self.learnt.now().place.is_none()
    }

    /// Writes the intent, once: before the tool runs, or before a person is asked.
    pub(crate) async fn begin(self: &Arc<Self>) -> Result<(), ToolError> {
        if self.begun.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        if !self.is_large() {
            return self.hand_over(Box::new(self.intent())).await;
        }
        // In a task of its own: whoever waits here may go away, and it is written all the same, before the outcome.
        let (done, written) = watch::channel(());
        let _ = self.writing.set(written);
        let entry = self.clone();
        let task = tokio::spawn(async move {
            let _done = done;
            let intent = entry.large_intent().await?;
            entry.hand_over(intent).await
        });
        task.await.map_err(ToolError::internal)?
    }

    async fn hand_over(&self, intent: Box<Intent>) -> Result<(), ToolError> {
        let effects = self.learnt.now().effects;
        self.handed_over.store(true, Ordering::Relaxed);
        let intent = JournalRecord::Intent(intent);
        let written = self.shared.journal.append(vec![intent], durability(effects)).await;
        // What the journal did not take is written with the outcome, if that is.
        self.handed_over.store(written.is_ok(), Ordering::Relaxed);
        written.map_err(ToolError::from)
    }

    /// Writes the outcome, once, before the caller hears of it. A call that was refused before it began has its
    /// intent written now.
    async fn close(self: &Arc<Self>, result: &ToolResult) -> Result<(), ToolError> {
        if let Some(writing) = self.writing.get() {
            // The only news is that it is over.
            let _ = writing.clone().changed().await;
        }
        let intent = match self.handed_over.load(Ordering::Relaxed) {
            true => None,
            false if self.is_large() => Some(self.large_intent().await?),
            false => Some(Box::new(self.intent())),
        };
        // From here on it is the journal's to write, whether anybody waits for it or not.
        self.closed.store(true, Ordering::Relaxed);
        let (record, durability) = self.last_record(intent, result);
        Ok(self.shared.journal.append(vec![record], durability).await?)
    }

    /// What has no intent yet had no effect either.
    fn last_record(
        &self,
        intent: Option<Box<Intent>>,
        result: &ToolResult,
    ) -> (JournalRecord, Durability) {
        let ending = Box::new(self.ending(result));
        match intent {
            Some(intent) => (JournalRecord::Call(intent, ending), durability(Effects::NONE)),
            None => (JournalRecord::Outcome(ending), durability(self.learnt.now().effects)),
        }
    }

    fn is_large(&self) -> bool {
        is_large(&self.learnt.now().input)
    }

    /// The intent. Looking for secrets in much text takes a while, and other calls must not wait for it.
    async fn large_intent(self: &Arc<Self>) -> Result<Box<Intent>, ToolError> {
        let entry = self.clone();
        let made = tokio::task::spawn_blocking(move || Box::new(entry.intent()));
        made.await.map_err(ToolError::internal)
    }

    fn intent(&self) -> Intent {
        let learnt = self.learnt.now().clone();
        let settings = self.shared.settings.load();
        let redactor = &settings.redactor;
        let decision = learnt.decision;
        Intent {
            call: self.call,
            provider_call_id: self.provider_call_id.clone(),
            message_id: self.message_id.clone(),
            caller: self.caller.clone(),
            tool: learnt.tool.unwrap_or_else(|| redactor.text(&self.name).into()),
            input: redactor.value(&learnt.input),
            rewrites: learnt
                .rewrites
                .iter()
                .map(|rewrite| json!({"by": rewrite.by, "before": redactor.value(&rewrite.before)}))
                .collect(),
            workspace: learnt.workspace,
            plan: learnt.plan.as_deref().map_or(Value::Null, |plan| redactor.value(&json!(plan))),
            effects: learnt.effects,
            decision: decision.as_ref().map_or("", |d| d.verdict.name()).into(),
            rule: decision.as_ref().map(|d| d.rule.clone()).unwrap_or_default(),
            reason: decision.map(|d| redactor.text(&d.reason).into_owned()).unwrap_or_default(),
            started: self.learnt.started_at(),
        }
    }

    fn ending(&self, result: &ToolResult) -> Ending {
        let settings = self.shared.settings.load();
        let redact = |text: String| settings.redactor.text(&text).into_owned();
        let meta = meta(self.call, &self.learnt, &self.live);
        let learnt = self.learnt.now().clone();
        let error = result.as_ref().err();
        let (decision, rule) = decided(error, learnt.decision.as_ref());
        Ending {
            call: self.call,
            error_type: error.map(|error| error.kind().into()),
            message: error.map(|error| redact(error.to_string())),
            detail: error.and_then(ToolError::operator_detail).map(redact),
            output: Outcome::summary(result),
            decision,
            rule,
            approval: learnt.approval,
            place: meta.place,
            effects: meta.effects,
            changed: json!(meta.changed),
            duration_ms: meta.duration_ms,
            answered_by: result.as_ref().ok().and_then(|output| output.answered_by.clone()),
            finished: self.shared.world.clock().now(),
        }
    }
}

/// A refusal is a decision too, whichever stage made it.
fn decided(error: Option<&ToolError>, decision: Option<&Decision>) -> (Cow<'static, str>, String) {
    match (error, decision) {
        (Some(ToolError::Denied { stage, rule, .. }), _) => {
            ("deny".into(), format!("{stage}:{rule}"))
        }
        (_, Some(decision)) => (decision.verdict.name().into(), decision.rule.clone()),
        (_, None) => ("".into(), String::new()),
    }
}

/// What changes something must be on the disk; the rest must survive a killed process.
const fn durability(effects: Effects) -> Durability {
    if effects.changes() { Durability::Disk } else { Durability::Process }
}

impl Drop for OpenEntry {
    /// Only a stage that panicked or a runtime that shut down leaves an entry open.
    fn drop(&mut self) {
        if self.closed.swap(true, Ordering::Relaxed) {
            return;
        }
        self.live.end();
        let handed_over = self.handed_over.swap(true, Ordering::Relaxed);
        let intent = (!handed_over).then(|| Box::new(self.intent()));
        let (record, durability) = self.last_record(intent, &Err(ToolError::Cancelled));
        if let Err(error) = self.shared.journal.append_blocking(vec![record], durability) {
            // The intent stays, and shows as interrupted when the next process starts.
            tracing::error!(call = %self.call, %error, "the outcome could not be recorded");
        }
        self.finished(&Err(ToolError::Cancelled));
    }
}
