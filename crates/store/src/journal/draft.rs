//! A record, encoded but for its place in the chain.

use serde_json::json;
use tool::Digest;

use super::{Ending, Intent, JournalRepair, Record, large::Payload, row::Texts};
use crate::{StoreError, names, time::micros};

/// A record, encoded where no lock is held.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) body: Body,
    pub(super) payload: String,
    pub(super) digest: Digest,
    call_id: String,
    effects: String,
}

/// What a draft is about.
#[derive(Debug)]
pub(super) enum Body {
    Record(Record),
    /// Payloads from before this time were erased.
    Erasure {
        before: i64,
    },
    /// The journal before this one was damaged, and set aside then.
    Repair {
        at: i64,
    },
}

impl Draft {
    pub(super) fn new(record: Record) -> Result<Self, StoreError> {
        let (call, effects, payload) = match &record {
            Record::Intent(intent) => (intent.call, Some(intent.effects), intent_payload(intent)?),
            Record::Change { call, changes } => {
                (*call, None, json!({ "changes": changes }).to_string())
            }
            Record::Outcome(ending) => (ending.call, Some(ending.effects), ending_payload(ending)?),
            Record::Call(intent, ending) => {
                let effects =
                    if ending.effects.is_empty() { intent.effects } else { ending.effects };
                (intent.call, Some(effects), call_payload(intent, ending)?)
            }
        };
        let effects = effects.map(|effects| serde_json::to_string(&effects)).transpose()?;
        Ok(Self {
            body: Body::Record(record),
            digest: Digest::of(&payload),
            payload,
            call_id: call.to_string(),
            effects: effects.unwrap_or_default(),
        })
    }

    pub(super) fn all(records: Vec<Record>) -> Result<Vec<Self>, StoreError> {
        records.into_iter().map(Self::new).collect()
    }

    pub(super) fn erasure(before: i64) -> Self {
        let payload = "{}".to_owned();
        Self {
            body: Body::Erasure { before },
            digest: Digest::of(&payload),
            payload,
            call_id: String::new(),
            effects: String::new(),
        }
    }

    pub(super) fn repair(repair: &JournalRepair, at: i64) -> Result<Self, StoreError> {
        // Through a value, which has its keys sorted.
        let payload = serde_json::to_value(repair)?.to_string();
        Ok(Self {
            body: Body::Repair { at },
            digest: Digest::of(&payload),
            payload,
            call_id: String::new(),
            effects: String::new(),
        })
    }

    /// When what it describes happened, and how long it took.
    pub(super) fn times(&self) -> (i64, Option<i64>) {
        match &self.body {
            Body::Record(Record::Intent(intent)) => (micros(intent.started), None),
            Body::Record(Record::Change { .. }) => (0, None),
            Body::Record(Record::Outcome(ending)) => {
                (micros(ending.finished), Some(duration(ending)))
            }
            Body::Record(Record::Call(intent, ending)) => {
                (micros(intent.started), Some(duration(ending)))
            }
            Body::Erasure { before } => (*before, None),
            Body::Repair { at } => (*at, None),
        }
    }

    /// The columns that are text.
    pub(super) fn texts<'a>(&'a self, writer: &'a str) -> Texts<'a> {
        let known =
            Texts { writer, call_id: &self.call_id, effects: &self.effects, ..Texts::default() };
        match &self.body {
            Body::Record(Record::Intent(intent)) => intent_texts(intent, &known),
            Body::Record(Record::Change { .. }) => Texts { kind: "change", ..known },
            Body::Record(Record::Outcome(ending)) => ending_texts(ending, &known),
            Body::Record(Record::Call(intent, ending)) => {
                let intent = intent_texts(intent, &known);
                let ending = ending_texts(ending, &intent);
                let said = |later: &'a str, before| if later.is_empty() { before } else { later };
                Texts {
                    kind: "call",
                    decision: said(ending.decision, intent.decision),
                    rule: said(ending.rule, intent.rule),
                    ..ending
                }
            }
            Body::Erasure { .. } => Texts { kind: "erasure", ..known },
            Body::Repair { .. } => Texts { kind: "repair", ..known },
        }
    }
}

fn intent_texts<'a>(intent: &'a Intent, known: &Texts<'a>) -> Texts<'a> {
    let caller = &*intent.caller;
    Texts {
        kind: "intent",
        tool: &intent.tool,
        user: &caller.user,
        agent: &caller.agent,
        session: &caller.session,
        sender: caller.sender.as_deref().unwrap_or_default(),
        channel: caller.channel.as_deref().unwrap_or_default(),
        provider: caller.provider.as_deref().unwrap_or_default(),
        role: names::of_role(caller.role),
        message_id: intent.message_id.as_deref().unwrap_or_default(),
        provider_call_id: intent.provider_call_id.as_deref().unwrap_or_default(),
        decision: &intent.decision,
        rule: &intent.rule,
        ..*known
    }
}

fn ending_texts<'a>(ending: &'a Ending, known: &Texts<'a>) -> Texts<'a> {
    Texts {
        kind: "outcome",
        decision: &ending.decision,
        rule: &ending.rule,
        status: ending.status(),
        error_type: ending.error_type.as_deref().unwrap_or_default(),
        approval: ending.approval.as_deref().unwrap_or_default(),
        place: ending.place.map(names::of_place).unwrap_or_default(),
        answered_by: ending.answered_by.as_deref().unwrap_or_default(),
        ..*known
    }
}

fn duration(ending: &Ending) -> i64 {
    i64::try_from(ending.duration_ms).unwrap_or(i64::MAX)
}

fn intent_payload(intent: &Intent) -> Result<String, StoreError> {
    let payload = Payload::default().value("input", &intent.input)?.value("plan", &intent.plan)?;
    let payload = payload.text("reason", Some(&intent.reason))?;
    with_rewrites(payload, intent)?.whole("workspace", &intent.workspace)?.done()
}

/// Few calls are rewritten, so the key is there only if one was.
fn with_rewrites(payload: Payload, intent: &Intent) -> Result<Payload, StoreError> {
    if intent.rewrites.is_empty() {
        return Ok(payload);
    }
    payload.value("rewrites", &json!(intent.rewrites))
}

fn ending_payload(ending: &Ending) -> Result<String, StoreError> {
    let payload = Payload::default().value("changed", &ending.changed)?;
    let payload = payload.text("detail", ending.detail.as_deref())?;
    let payload = payload.text("message", ending.message.as_deref())?;
    payload.value("output", &ending.output)?.done()
}

/// All keys of both.
fn call_payload(intent: &Intent, ending: &Ending) -> Result<String, StoreError> {
    let payload = Payload::default().value("changed", &ending.changed)?;
    let payload = payload.text("detail", ending.detail.as_deref())?;
    let payload = payload.value("input", &intent.input)?;
    let payload = payload.text("message", ending.message.as_deref())?;
    let payload = payload.value("output", &ending.output)?.value("plan", &intent.plan)?;
    let payload = payload.text("reason", Some(&intent.reason))?;
    with_rewrites(payload, intent)?.whole("workspace", &intent.workspace)?.done()
}
