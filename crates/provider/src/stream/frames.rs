//! Bytes into events, wherever they were cut.

use std::collections::VecDeque;

use crate::ProviderError;

/// Splits server-sent events, or JSON objects that follow each other or stand in a list.
#[derive(Debug, Default)]
pub(super) struct Frames {
    bytes: VecDeque<u8>,
    kind: Kind,
    ready: VecDeque<Vec<u8>>,
}

#[derive(Debug, Default)]
enum Kind {
    #[default]
    Unknown,
    Events(Events),
    Objects(Objects),
}

impl Frames {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next event that is whole.
    pub(super) fn next(&mut self) -> Result<Option<String>, ProviderError> {
        while self.ready.is_empty() {
            let Some(byte) = self.bytes.pop_front() else { return Ok(None) };
            match &mut self.kind {
                Kind::Unknown => self.begin(byte),
                Kind::Events(events) => self.ready.extend(events.take(byte)),
                Kind::Objects(objects) => self.ready.extend(objects.take(byte)?),
            }
        }
        self.ready.pop_front().map(text).transpose()
    }

    /// As [`Self::next`], when no more bytes will come: the last event need not be closed.
    pub(super) fn last(&mut self) -> Result<Option<String>, ProviderError> {
        if let Some(event) = self.next()? {
            return Ok(Some(event));
        }
        let cut = ProviderError::Incomplete("it ends inside of an event");
        match &mut self.kind {
            Kind::Objects(objects) if objects.depth > 0 => Err(cut),
            Kind::Unknown | Kind::Objects(_) => Ok(None),
            Kind::Events(events) => {
                events.end_line();
                let Some(event) = events.end_event() else { return Ok(None) };
                let event = text(event).map_err(|_| cut.clone())?;
                let whole = event.trim() == "[DONE]" || tool::parse_json(&event).is_ok();
                if whole { Ok(Some(event)) } else { Err(cut) }
            }
        }
    }

    /// The first byte tells what it is. A byte order mark tells nothing.
    fn begin(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                self.kind = Kind::Objects(Objects::default());
                self.bytes.push_front(byte);
            }
            b' ' | b'\t' | b'\r' | b'\n' | 0xef | 0xbb | 0xbf => {}
            _ => {
                self.kind = Kind::Events(Events::default());
                self.bytes.push_front(byte);
            }
        }
    }
}

fn text(bytes: Vec<u8>) -> Result<String, ProviderError> {
    String::from_utf8(bytes).map_err(|_| ProviderError::NotJson("it is not UTF-8".to_owned()))
}

/// Server-sent events; of their fields only `data` matters, because it says its type itself.
#[derive(Debug, Default)]
struct Events {
    line: Vec<u8>,
    data: Option<Vec<u8>>,
    after_return: bool,
}

impl Events {
    fn take(&mut self, byte: u8) -> Option<Vec<u8>> {
        let second_half = std::mem::replace(&mut self.after_return, byte == b'\r') && byte == b'\n';
        match byte {
            b'\n' if second_half => None,
            b'\n' | b'\r' if self.line.is_empty() => self.end_event(),
            b'\n' | b'\r' => {
                self.end_line();
                None
            }
            _ => {
                self.line.push(byte);
                None
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let value = match line.strip_prefix(b"data:") {
            Some(value) => value.strip_prefix(b" ").unwrap_or(value),
            None if line == b"data" => b"",
            None => return,
        };
        match &mut self.data {
            Some(data) => {
                data.push(b'\n');
                data.extend_from_slice(value);
            }
            data @ None => *data = Some(value.to_vec()),
        }
    }

    fn end_event(&mut self) -> Option<Vec<u8>> {
        self.data.take().filter(|data| !data.is_empty())
    }
}

/// JSON objects; what stands between them is a list's brackets and commas.
#[derive(Debug, Default)]
struct Objects {
    object: Vec<u8>,
    depth: usize,
    text: InText,
}

/// Whether a brace is a brace.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum InText {
    #[default]
    No,
    Yes,
    AfterBackslash,
}

impl Objects {
    fn take(&mut self, byte: u8) -> Result<Option<Vec<u8>>, ProviderError> {
        if self.depth == 0 && byte != b'{' {
            let between = matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b',' | b'[' | b']');
            let odd = || ProviderError::NotJson("something stands between its objects".to_owned());
            return if between { Ok(None) } else { Err(odd()) };
        }
        self.object.push(byte);
        self.text = match (self.text, byte) {
            (InText::No, b'"') | (InText::AfterBackslash, _) => InText::Yes,
            (InText::Yes, b'\\') => InText::AfterBackslash,
            (InText::Yes, b'"') => InText::No,
            (state, _) => state,
        };
        match byte {
            b'{' if self.text == InText::No => self.depth += 1,
            b'}' if self.text == InText::No => self.depth -= 1,
            _ => {}
        }
        Ok((self.depth == 0).then(|| std::mem::take(&mut self.object)))
    }
}
