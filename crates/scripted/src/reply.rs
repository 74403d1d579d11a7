//! What the model says.

use std::time::Duration;

use serde_json::{Value, json};
use tool::Format;

use crate::{anthropic, gemini, openai, openai_responses};

/// One answer of the model, and how it arrives.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(crate) what: What,
    /// Before anything is sent.
    pub(crate) delay: Duration,
    /// Between two events.
    pub(crate) pause: Duration,
    /// Bytes sent at a time; unset is an event at a time.
    pub(crate) cut: Option<usize>,
    pub(crate) end: End,
}

#[derive(Debug, Clone)]
pub(crate) enum What {
    Answer(Answer),
    /// An error instead of an answer.
    Error {
        status: u16,
        headers: Vec<(String, String)>,
        body: String,
    },
}

/// How an answer ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum End {
    Whole,
    /// The connection closes after so many bytes.
    Vanish(usize),
    /// Nothing more comes after so many bytes.
    Stall(usize),
    /// Comments without end, and no answer.
    Flood,
}

/// What is said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Answer {
    pub(crate) pieces: Vec<String>,
    pub(crate) calls: Vec<Call>,
    pub(crate) finish: Option<Finish>,
    pub(crate) usage: Tokens,
}

/// What it cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tokens {
    pub(crate) input: u64,
    pub(crate) cached: u64,
    pub(crate) output: u64,
}

impl Default for Tokens {
    fn default() -> Self {
        Self { input: 100, cached: 0, output: 10 }
    }
}

/// A call the model asks for.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Call {
    pub id: String,
    pub name: String,
    pub args: Value,
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Finish {
    Stop,
    Calls,
    Length,
    Filtered,
}

impl Reply {
    /// Says `text`, word by word.
    pub fn text(text: &str) -> Self {
        let pieces = text.split_inclusive(' ').map(str::to_owned).collect();
        Self::of(What::Answer(Answer { pieces, ..Answer::default() }))
    }

    /// Asks for one call.
    pub fn call(name: &str, args: Value) -> Self {
        Self::calls([(name, args)])
    }

    /// Asks for calls; their ids are `call_1`, `call_2`, ….
    pub fn calls<'a>(calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        Self::of(What::Answer(Answer::default())).and_calls(calls)
    }

    /// An error in the words of most vendors.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let error = json!({"type": kind, "code": kind, "message": message});
        Self::body(status, &json!({"type": "error", "error": error}).to_string())
    }

    /// An answer of any status with a body of its own.
    pub fn body(status: u16, body: &str) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self::of(What::Error { status, headers, body: body.to_owned() })
    }

    /// Asks for calls too.
    #[must_use]
    pub fn and_calls<'a>(self, calls: impl IntoIterator<Item = (&'a str, Value)>) -> Self {
        self.answer(|answer| {
            for (name, args) in calls {
                let id = format!("call_{}", answer.calls.len() + 1);
                answer.calls.push(Call { id, name: name.to_owned(), args });
            }
        })
    }

    /// Gives its calls no ids, as older models of Gemini do.
    #[must_use]
    pub fn without_ids(self) -> Self {
        self.answer(|answer| answer.calls.iter_mut().for_each(|call| call.id.clear()))
    }

    /// Gives all its calls this id, as broken models do.
    #[must_use]
    pub fn with_one_id(self, id: &str) -> Self {
        self.answer(|answer| answer.calls.iter_mut().for_each(|call| id.clone_into(&mut call.id)))
    }

    /// Stops for this reason, not the obvious one.
    #[must_use]
    pub fn finish(self, finish: Finish) -> Self {
        self.answer(|answer| answer.finish = Some(finish))
    }

    /// Costs so many tokens: read, of these from the cache, and written.
    #[must_use]
    pub fn usage(self, input: u64, cached: u64, output: u64) -> Self {
        self.answer(|answer| answer.usage = Tokens { input, cached, output })
    }

    /// With a header, if it is an error.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let What::Error { headers, .. } = &mut self.what {
            headers.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Takes this long before it says anything.
    #[must_use]
    pub const fn after(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Takes this long between two events.
    #[must_use]
    pub const fn pausing(mut self, pause: Duration) -> Self {
        self.pause = pause;
        self
    }

    /// Arrives so many bytes at a time, wherever that cuts.
    #[must_use]
    pub const fn cut(mut self, bytes: usize) -> Self {
        self.cut = Some(bytes);
        self
    }

    /// Breaks off after so many bytes: the connection is closed.
    #[must_use]
    pub const fn vanish_after(mut self, bytes: usize) -> Self {
        self.end = End::Vanish(bytes);
        self
    }

    /// Breaks off after so many bytes: the connection stays open, and nothing comes.
    #[must_use]
    pub const fn stall_after(mut self, bytes: usize) -> Self {
        self.end = End::Stall(bytes);
        self
    }

    /// Says nothing, without end.
    #[must_use]
    pub const fn flood(mut self) -> Self {
        self.end = End::Flood;
        self
    }

    const fn of(what: What) -> Self {
        let (delay, pause) = (Duration::ZERO, Duration::ZERO);
        Self { what, delay, pause, cut: None, end: End::Whole }
    }

    fn answer(mut self, change: impl FnOnce(&mut Answer)) -> Self {
        if let What::Answer(answer) = &mut self.what {
            change(answer);
        }
        self
    }
}

impl Answer {
    /// The events of this answer, as a vendor sends them.
    pub(crate) fn events(&self, format: Format, model: &str) -> Vec<String> {
        match format {
            Format::OpenAi | Format::Mcp => openai::events(self, model),
            Format::OpenAiResponses => openai_responses::events(self, model),
            Format::Anthropic => anthropic::events(self, model),
            Format::Gemini => gemini::events(self, model),
        }
    }

    pub(crate) fn finish(&self) -> Finish {
        let obvious = if self.calls.is_empty() { Finish::Stop } else { Finish::Calls };
        self.finish.unwrap_or(obvious)
    }

    pub(crate) fn text(&self) -> String {
        self.pieces.concat()
    }
}

impl Call {
    /// The arguments as JSON, in two pieces.
    pub(crate) fn halves(&self) -> [String; 2] {
        let json = self.args.to_string();
        let half = json.chars().count() / 2;
        [json.chars().take(half).collect(), json.chars().skip(half).collect()]
    }
}

/// One server-sent event without a name.
pub(crate) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// One server-sent event whose name is its type.
pub(crate) fn typed(value: &Value) -> String {
    let name = value.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n")
}
