//! How the pieces of an answer are sent.

/// How the pieces of an answer are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pieces {
    /// As server-sent events.
    Events,
    /// As one list in JSON, which is what Gemini gives to who does not ask for events.
    List,
}

impl Pieces {
    pub(super) const fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::List => "application/json",
        }
    }
}

/// What was sent of an answer.
#[derive(Debug)]
pub(super) struct Written {
    pieces: Pieces,
    begun: bool,
}

impl Written {
    pub(super) const fn new(pieces: Pieces) -> Self {
        Self { pieces, begun: false }
    }

    /// Events, in the form that is wanted. What says nothing is an empty line, which a list may have.
    pub(super) fn piece(&mut self, events: String) -> String {
        if self.pieces == Pieces::Events {
            return events;
        }
        let mut text = String::new();
        for item in events.lines().filter_map(|line| line.strip_prefix("data: ")) {
            text += if std::mem::replace(&mut self.begun, true) { ",\n" } else { "[" };
            text += item;
        }
        if text.is_empty() { "\n".to_owned() } else { text }
    }

    /// What comes last.
    pub(super) const fn end(&self) -> &'static str {
        match (self.pieces, self.begun) {
            (Pieces::Events, _) => "",
            (Pieces::List, true) => "]\n",
            (Pieces::List, false) => "[]\n",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn events_become_the_items_of_one_list() {
        for (events, expected) in [
            (
                vec!["", "data: {\"a\":1}\n\n", "\n", "data: 2\n\ndata: 3\n\n"],
                json!([{"a": 1}, 2, 3]),
            ),
            (vec!["\n"], json!([])),
        ] {
            let mut list = Written::new(Pieces::List);
            let mut text: String = events.iter().map(|one| list.piece((*one).to_owned())).collect();
            text += list.end();
            assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
            let mut same = Written::new(Pieces::Events);
            let text: String = events.iter().map(|one| same.piece((*one).to_owned())).collect();
            assert_eq!(text + same.end(), events.concat());
        }
    }
}
