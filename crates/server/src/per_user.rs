//! How many of something each user has.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

/// How many of something each user has.
#[derive(Debug, Default, Clone)]
pub(crate) struct PerUser(Arc<Mutex<HashMap<Arc<str>, usize>>>);

/// One of them, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    all: PerUser,
    user: Arc<str>,
}

impl PerUser {
    /// Counts one more, if there may be one.
    pub(crate) fn admit(&self, user: &Arc<str>, most: usize) -> Option<Counted> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let own = all.get(user).copied().unwrap_or_default();
        if own >= most {
            return None;
        }
        all.insert(user.clone(), own + 1);
        Some(Counted { all: self.clone(), user: user.clone() })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut all = self.all.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(&self.user) {
            Some(count) if *count > 1 => *count -= 1,
            _ => drop(all.remove(&self.user)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_user_has_is_bounded_and_counted_back() {
        let (all, [ada, bo]) = (PerUser::default(), ["ada", "bo"].map(Arc::from));
        let first = all.admit(&ada, 2).unwrap();
        let second = all.admit(&ada, 2).unwrap();
        assert!(all.admit(&ada, 2).is_none() && all.admit(&bo, 2).is_some());
        drop(first);
        drop(all.admit(&ada, 2).unwrap());
        drop(second);
        assert!(all.0.lock().unwrap().is_empty());
    }
}
