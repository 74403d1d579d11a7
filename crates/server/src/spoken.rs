//! Which tokens spoke in which sessions, as far as it is remembered here: the store has all of it.

use std::collections::{HashMap, VecDeque};

use store::SessionKey;
use tool::ItemId;

/// So much is remembered.
const MOST: usize = 16_384;

/// Whether the store has it, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored {
    Yes,
    No,
}

/// Which families of tokens spoke in which sessions lately.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    known: HashMap<(SessionKey, ItemId), Stored>,
    oldest: VecDeque<(SessionKey, ItemId)>,
}

impl Spoken {
    pub(crate) fn note(&mut self, session: SessionKey, family: &ItemId, stored: Stored) {
        let pair = (session, family.clone());
        if self.known.insert(pair.clone(), stored).is_some() {
            return;
        }
        self.oldest.push_back(pair);
        if self.oldest.len() > MOST
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether nothing has to be stored about this.
    pub(crate) fn is_stored(&self, session: SessionKey, family: &ItemId) -> bool {
        self.known.get(&(session, family.clone())) == Some(&Stored::Yes)
    }

    /// Whether it is known that one of the family spoke there.
    pub(crate) fn has_spoken(&self, session: SessionKey, family: &ItemId) -> bool {
        self.known.contains_key(&(session, family.clone()))
    }

    /// The store has forgotten a session. What was said there may still have agents work.
    pub(crate) fn removed(&mut self, session: &SessionKey) {
        let pairs = self.known.iter_mut().filter(|((known, _), _)| known == session);
        pairs.for_each(|(_, stored)| *stored = Stored::No);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_much_is_remembered_and_what_the_store_forgot_is_stored_again() {
        let session = |number: usize| SessionKey::new("owner", "main", &format!("s{number}"));
        let tokens: [ItemId; 2] = [ItemId::random(), ItemId::random()];
        let [one, other] = &tokens;
        let mut spoken = Spoken::default();
        spoken.note(session(0), other, Stored::Yes);
        assert!(spoken.has_spoken(session(0), other) && !spoken.has_spoken(session(0), one));
        assert!(spoken.is_stored(session(0), other));
        spoken.removed(&session(0));
        assert!(spoken.has_spoken(session(0), other) && !spoken.is_stored(session(0), other));
        for number in 0..MOST {
            spoken.note(session(number), one, Stored::Yes);
        }
        assert!(!spoken.has_spoken(session(0), other), "the store knows");
        assert_eq!((spoken.known.len(), spoken.oldest.len()), (MOST, MOST));
    }
}
