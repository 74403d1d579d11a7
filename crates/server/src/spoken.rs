//! Which tokens spoke in which sessions.

use std::collections::{HashSet, VecDeque};

use store::SessionKey;
use tool::ItemId;

/// So much is remembered one by one.
const MOST: usize = 16_384;

/// Which tokens spoke in which sessions since the server started.
#[derive(Debug, Default)]
pub(crate) struct Spoken {
    known: HashSet<(SessionKey, ItemId)>,
    oldest: VecDeque<(SessionKey, ItemId)>,
    /// Tokens that spoke in sessions which are not remembered any more.
    elsewhere: HashSet<ItemId>,
}

impl Spoken {
    pub(crate) fn note(&mut self, session: SessionKey, token: &ItemId) {
        let pair = (session, token.clone());
        if !self.known.insert(pair.clone()) {
            return;
        }
        self.oldest.push_back(pair);
        if self.oldest.len() > MOST
            && let Some(oldest) = self.oldest.pop_front()
        {
            self.known.remove(&oldest);
            self.elsewhere.insert(oldest.1);
        }
    }

    /// Whether a token spoke there. Of one that spoke in more sessions than are remembered it is assumed.
    pub(crate) fn has_spoken(&self, session: SessionKey, token: &ItemId) -> bool {
        self.elsewhere.contains(token) || self.known.contains(&(session, token.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forgotten_is_assumed() {
        let session = |number: usize| SessionKey::new("owner", "main", &format!("s{number}"));
        let tokens: [ItemId; 2] = [ItemId::random(), ItemId::random()];
        let [one, other] = &tokens;
        let mut spoken = Spoken::default();
        spoken.note(session(0), other);
        assert!(spoken.has_spoken(session(0), other) && !spoken.has_spoken(session(0), one));
        for number in 0..MOST {
            spoken.note(session(number), one);
        }
        assert!(!spoken.has_spoken(session(MOST), one));
        assert!(
            spoken.has_spoken(session(MOST), other),
            "which of its sessions is not known any more"
        );
        assert_eq!((spoken.known.len(), spoken.oldest.len()), (MOST, MOST));
    }
}
