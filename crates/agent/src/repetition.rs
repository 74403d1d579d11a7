//! Notices when a model makes the same call again and again and learns nothing from it.

use std::{
    collections::HashMap,
    hash::{DefaultHasher, Hash, Hasher},
    time::Duration,
};

use provider::{WireCall, WireResult};
use tool::ToolOutput;

/// From this time on the model is told.
const TELL: u32 = 3;
/// At this time the run ends.
const END: u32 = 10;
/// A call that takes so long waits for something; waiting is not going round in circles.
const WAITED: Duration = Duration::from_secs(1);
/// So many calls are remembered.
const MAX_SEEN: usize = 4_096;

/// The calls of a run with what came of them.
#[derive(Debug, Default)]
pub(crate) struct Repetition {
    seen: HashMap<u64, Seen>,
    turn: u64,
}

#[derive(Debug, Default)]
struct Seen {
    times: u32,
    /// The turn it was counted in last.
    turn: u64,
}

/// How a call went, as far as the guard against repetition looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallCourse {
    pub(crate) took: Duration,
    pub(crate) changed: Changed,
    /// Whether the tool looks at something that goes on by itself.
    pub(crate) polls: bool,
}

/// Whether a call that succeeded changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    Yes,
    No,
}

/// What is to be done about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeated {
    /// Nothing.
    No,
    /// The model is told that it has made this call so many times.
    Tell(u32),
    /// The model waits for something and asks too often: it is told to wait within one call.
    Wait(u32),
    /// The run ends.
    End(u32),
}

impl Repetition {
    /// The model has been asked again. The same call twice in one answer is no circle yet.
    pub(crate) const fn next_turn(&mut self) {
        self.turn += 1;
    }

    /// Counts a call that came to `result`.
    pub(crate) fn count(
        &mut self,
        call: &WireCall,
        result: &WireResult,
        course: CallCourse,
    ) -> Repeated {
        let CallCourse { took, changed, polls } = course;
        if took >= WAITED {
            // Time has passed, so that looking again makes sense.
            self.seen.clear();
            return Repeated::No;
        }
        let mut hasher = DefaultHasher::new();
        let args = call.args.as_ref().map(ToString::to_string);
        (&call.name, args, result.is_error, said(result)).hash(&mut hasher);
        let hash = hasher.finish();
        // Something new was changed, so that to look again at the same things makes sense.
        let progress = changed == Changed::Yes && !self.seen.contains_key(&hash);
        if progress || self.seen.len() >= MAX_SEEN {
            self.seen.clear();
        }
        let seen = self.seen.entry(hash).or_default();
        if seen.times == 0 || seen.turn != self.turn {
            (seen.times, seen.turn) = (seen.times + 1, self.turn);
        }
        match seen.times {
            ..TELL => Repeated::No,
            TELL.. if polls => Repeated::Wait(seen.times),
            TELL..END => Repeated::Tell(seen.times),
            END.. => Repeated::End(seen.times),
        }
    }
}

/// The text of a result, without what differs each time: the id of the fence around it.
fn said(result: &WireResult) -> String {
    let text = result.text();
    match ToolOutput::fence_id(&text) {
        Some(id) => text.replace(id, ""),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use tool::{Block, CallId};

    use super::*;

    fn count(repetition: &mut Repetition, path: &str, said: &str, took: u64) -> Repeated {
        repetition.next_turn();
        count_in_turn(repetition, (path, said), took, Changed::No)
    }

    fn count_in_turn(
        repetition: &mut Repetition,
        (path, said): (&str, &str),
        took: u64,
        changed: Changed,
    ) -> Repeated {
        let call = WireCall { id: None, name: "read".into(), args: Ok(json!({"path": path})) };
        let result = WireResult {
            id: None,
            name: None,
            blocks: vec![Block::Text(said.into())],
            structured: None,
            is_error: false,
        };
        let course = CallCourse { took: Duration::from_millis(took), changed, polls: false };
        repetition.count(&call, &result, course)
    }

    #[test]
    fn waiting_is_not_going_round_in_circles() {
        let mut repetition = Repetition::default();
        let call = WireCall { id: None, name: "process".into(), args: Ok(json!({})) };
        let result = WireResult {
            id: None,
            name: None,
            blocks: vec![Block::Text("running".into())],
            structured: None,
            is_error: false,
        };
        let course = CallCourse { took: Duration::ZERO, changed: Changed::No, polls: true };
        let polled: Vec<_> = (0..50)
            .map(|_| {
                repetition.next_turn();
                repetition.count(&call, &result, course)
            })
            .collect();
        assert_eq!(polled[1], Repeated::No);
        assert_eq!(polled[49], Repeated::Wait(50));
        // Whoever sleeps between two looks waits, too, whatever the tool.
        for _ in 0..30 {
            assert_eq!(count(&mut repetition, "a", "x", 1), Repeated::No);
            assert_eq!(count(&mut repetition, "sleep", "", 1_500), Repeated::No);
        }
    }

    #[test]
    fn the_same_call_with_the_same_result_is_noticed() {
        let mut repetition = Repetition::default();
        let same: Vec<_> = (0..10).map(|_| count(&mut repetition, "a", "x", 1)).collect();
        assert_eq!(same[1], Repeated::No);
        assert_eq!(same[2], Repeated::Tell(3));
        assert_eq!(same[9], Repeated::End(10));
    }

    #[test]
    fn a_fence_does_not_make_the_same_result_another() {
        let fenced = |n: u64, text: &str| {
            let call: CallId = format!("01890a5d-ac96-774b-bcce-{n:012x}").parse().unwrap();
            ToolOutput::fenced(call, "a.example", text)
        };
        let mut repetition = Repetition::default();
        let same: Vec<_> =
            (0..3).map(|n| count(&mut repetition, "a", &fenced(n, "x"), 1)).collect();
        assert_eq!(same[2], Repeated::Tell(3));
        assert_eq!(count(&mut repetition, "a", &fenced(3, "y"), 1), Repeated::No);
    }

    #[test]
    fn other_arguments_another_result_or_waiting_are_not() {
        let mut repetition = Repetition::default();
        for n in 0..30 {
            assert_eq!(count(&mut repetition, &n.to_string(), "x", 1), Repeated::No);
            assert_eq!(count(&mut repetition, "a", &n.to_string(), 1), Repeated::No);
            assert_eq!(count(&mut repetition, "b", "x", 2_000), Repeated::No);
        }
    }

    #[test]
    fn many_at_once_and_looking_again_after_a_change_are_not() {
        let mut repetition = Repetition::default();
        for _ in 0..30 {
            let again = count_in_turn(&mut repetition, ("a", "x"), 1, Changed::No);
            assert_eq!(again, Repeated::No);
        }
        for n in 0..30 {
            repetition.next_turn();
            let (new, change) = (n.to_string(), Changed::Yes);
            assert_eq!(count_in_turn(&mut repetition, (&new, "x"), 1, change), Repeated::No);
            assert_eq!(count(&mut repetition, "a", "x", 1), Repeated::No);
        }
        // The same change again and again is no progress.
        let last = (0..12).map(|_| {
            repetition.next_turn();
            count_in_turn(&mut repetition, ("b", "x"), 1, Changed::Yes)
        });
        assert!(matches!(last.last(), Some(Repeated::End(_))));
    }
}
