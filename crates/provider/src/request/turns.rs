//! A conversation as a provider takes it: every call has its result and every result its call.
//!
//! Stored conversations are not always so. A process died before a call had its result, a client
//! left something out, the beginning was cut off; and providers refuse all of it.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, VecDeque},
};

use serde_json::Value;
use tool::Block;

use super::Prompt;
use crate::{Format, Message, ModelMessage, WireCall, WireResult};

/// The longest id that every provider takes.
const MAX_ID: usize = 40;
/// What a model reads where a result is missing.
const UNANSWERED: &str = "interrupted: this call has no result";

/// One step of a conversation.
pub(super) enum Turn<'a> {
    /// Blocks of one or more messages.
    User(Vec<Cow<'a, Block>>),
    /// What the model said; with its own words, if the provider is the one that said it.
    Model { text: &'a str, calls: Vec<WireCall>, own: Option<&'a Value> },
    /// The results of the calls in the turn before, in their order.
    Results(Vec<WireResult>),
}

pub(super) fn turns<'a>(format: Format, prompt: &'a Prompt<'_>) -> Vec<Turn<'a>> {
    let mut turns = Turns {
        format,
        prompt,
        done: Vec::new(),
        open: Vec::new(),
        waiting: HashMap::new(),
        stray: Vec::new(),
        used: HashSet::new(),
    };
    for (index, message) in prompt.messages.iter().enumerate() {
        match message {
            Message::User(blocks) => turns.user(blocks.iter().map(Cow::Borrowed)),
            Message::Model(message) => turns.model(index, message),
            Message::Results(results) => turns.results(results),
        }
    }
    turns.close();
    turns.done
}

struct Turns<'a, 'p> {
    format: Format,
    prompt: &'a Prompt<'p>,
    done: Vec<Turn<'a>>,
    /// The calls that wait for their results.
    open: Vec<Open>,
    /// Where in `open` a call is that can be found so; some of them have their result by now.
    waiting: HashMap<Sought<'a>, VecDeque<usize>>,
    /// Results of calls that are not there.
    stray: Vec<&'a WireResult>,
    /// Ids of calls so far: each may be used once.
    used: HashSet<String>,
}

/// A call as it is sent, and its result once it is found.
struct Open {
    sent: WireCall,
    result: Option<WireResult>,
}

/// How a result finds its call: by id; where one of them has none by name, and else by order.
#[derive(PartialEq, Eq, Hash)]
enum Sought<'a> {
    Id(&'a str),
    Name(&'a str),
    Any,
    /// As above, among calls without an id.
    NameWithoutId(&'a str),
    AnyWithoutId,
}

impl<'a> Sought<'a> {
    /// All ways to this call.
    fn call(call: &'a WireCall) -> Vec<Self> {
        let name = call.name.as_str();
        match call.id.as_deref() {
            Some(id) => vec![Self::Id(id), Self::Name(name), Self::Any],
            None => {
                vec![Self::NameWithoutId(name), Self::AnyWithoutId, Self::Name(name), Self::Any]
            }
        }
    }

    /// The ways from this result, in order.
    fn result(result: &'a WireResult) -> Vec<Self> {
        let name = result.name.as_deref();
        match result.id.as_deref() {
            Some(id) => vec![Self::Id(id), name.map_or(Self::AnyWithoutId, Self::NameWithoutId)],
            None => vec![name.map_or(Self::Any, Self::Name)],
        }
    }
}

impl<'a> Turns<'a, '_> {
    fn user(&mut self, blocks: impl Iterator<Item = Cow<'a, Block>>) {
        self.close();
        self.say(blocks);
    }

    fn say(&mut self, blocks: impl Iterator<Item = Cow<'a, Block>>) {
        let blocks = blocks.filter(|block| !is_empty(block));
        if let Some(Turn::User(before)) = self.done.last_mut() {
            before.extend(blocks);
            return;
        }
        let blocks: Vec<_> = blocks.collect();
        if !blocks.is_empty() {
            self.done.push(Turn::User(blocks));
        }
    }

    fn model(&mut self, index: usize, message: &'a ModelMessage) {
        self.close();
        let own = message.own(self.prompt.provider, self.format).filter(|own| says_something(own));
        let text = message.text.as_str();
        if own.is_none() && text.trim().is_empty() && message.calls.is_empty() {
            return;
        }
        for (position, given) in message.calls.iter().enumerate() {
            let id = self.id(given, (index, position), own);
            let name = self.prompt.wire(&given.name).into_owned();
            let sent = WireCall { id, name, args: given.args.clone() };
            for sought in Sought::call(given) {
                self.waiting.entry(sought).or_default().push_back(self.open.len());
            }
            self.open.push(Open { sent, result: None });
        }
        let calls = self.open.iter().map(|open| open.sent.clone()).collect();
        self.done.push(Turn::Model { text, calls, own });
    }

    /// The id a call is sent with. In the provider's own words it is the one it gave.
    fn id(&mut self, call: &WireCall, at: (usize, usize), own: Option<&Value>) -> Option<String> {
        let given = call.id.clone();
        // Here a call without one is matched by name and order.
        let spare = self.format == Format::Gemini && given.is_none();
        if own.is_some() || spare {
            self.used.extend(given.clone());
            return given;
        }
        let fresh = (0_usize..).map(|n| match n {
            0 => format!("call_{}_{}", at.0, at.1),
            _ => format!("call_{}_{}_{n}", at.0, at.1),
        });
        let mut ids = given.into_iter().filter(|id| fits(id)).chain(fresh);
        let id = ids.find(|id| !self.used.contains(id))?;
        self.used.insert(id.clone());
        Some(id)
    }

    fn results(&mut self, results: &'a [WireResult]) {
        for result in results {
            match self.call_of(result) {
                Some(open) => {
                    let (id, name) = (open.sent.id.clone(), Some(open.sent.name.clone()));
                    open.result = Some(WireResult { id, name, ..result.clone() });
                }
                None => self.stray.push(result),
            }
        }
    }

    /// The first call without a result that this can be the result of.
    fn call_of(&mut self, result: &'a WireResult) -> Option<&mut Open> {
        for sought in Sought::result(result) {
            let Some(places) = self.waiting.get_mut(&sought) else { continue };
            while let Some(place) = places.pop_front() {
                if self.open.get(place).is_some_and(|open| open.result.is_none()) {
                    return self.open.get_mut(place);
                }
            }
        }
        None
    }

    /// Ends the turn of the calls that are open.
    fn close(&mut self) {
        self.waiting.clear();
        let results: Vec<_> = self.open.drain(..).map(Open::answered).collect();
        if !results.is_empty() {
            self.done.push(Turn::Results(results));
        }
        let stray = std::mem::take(&mut self.stray);
        self.say(stray.into_iter().flat_map(told));
    }
}

impl Open {
    fn answered(self) -> WireResult {
        self.result.unwrap_or_else(|| WireResult {
            id: self.sent.id,
            name: Some(self.sent.name),
            blocks: vec![Block::Text(UNANSWERED.to_owned())],
            structured: None,
            is_error: true,
        })
    }
}

/// A result whose call is not there any more, told as it was.
fn told(result: &WireResult) -> impl Iterator<Item = Cow<'_, Block>> {
    let name = result.name.as_deref().or(result.id.as_deref()).unwrap_or("unknown");
    let title = format!("[result of an earlier call: `{name}`]");
    std::iter::once(Cow::Owned(Block::Text(title))).chain(result.blocks.iter().map(Cow::Borrowed))
}

/// Whether there is anything in a provider's own message; an empty one may not be repeated.
fn says_something(own: &Value) -> bool {
    let inside = own.get("content").or_else(|| own.get("parts")).unwrap_or(own);
    let calls =
        own.get("tool_calls").and_then(Value::as_array).is_some_and(|calls| !calls.is_empty());
    calls
        || match inside {
            Value::Array(items) => !items.is_empty(),
            Value::String(text) => !text.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
        }
}

fn is_empty(block: &Block) -> bool {
    match block {
        Block::Text(text) => text.trim().is_empty(),
        Block::Image { .. } => false,
    }
}

fn fits(id: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_ID).contains(&id.len()) && id.bytes().all(allowed)
}
