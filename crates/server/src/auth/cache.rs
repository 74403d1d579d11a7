//! Tokens that were looked up lately.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant, SystemTime},
};

use store::{Db, StoreError, Token};
use tool::Digest;

/// So long an answer of the store is good, unless the store has changed before.
const LASTS: Duration = Duration::from_secs(30);
/// So many are kept.
const MOST: usize = 16_384;

/// Tokens that were looked up lately. What anybody changes in the store, this process or another, makes
/// all of them be looked up again, so that a revoked one is worth nothing at once.
#[derive(Debug, Default)]
pub(crate) struct TokenCache(Mutex<HashMap<Digest, Known>>);

#[derive(Debug, Clone)]
struct Known {
    token: Arc<Token>,
    version: i64,
    at: Instant,
}

impl TokenCache {
    /// The token with this hash, if it works at `now`.
    pub(crate) async fn find(
        &self,
        db: &Db,
        hash: &Digest,
        now: SystemTime,
    ) -> Result<Option<Arc<Token>>, StoreError> {
        let version = db.version()?;
        if let Some(token) = self.known(hash, version, now) {
            return Ok(Some(token));
        }
        let Some(token) = db.find_token(hash, now).await? else {
            self.lock().remove(hash);
            return Ok(None);
        };
        let token = Arc::new(token);
        let mut known = self.lock();
        if known.len() >= MOST {
            known.retain(|_, known| known.at.elapsed() < LASTS);
        }
        if known.len() >= MOST {
            known.clear();
        }
        // The version of before the look: a change meanwhile is noticed the next time.
        known.insert(*hash, Known { token: token.clone(), version, at: Instant::now() });
        Ok(Some(token))
    }

    fn known(&self, hash: &Digest, version: i64, now: SystemTime) -> Option<Arc<Token>> {
        let known = self.lock().get(hash).cloned()?;
        let lasts = known.version == version && known.at.elapsed() < LASTS;
        let works = known.token.new.expires_at.is_none_or(|end| end > now);
        (lasts && works).then_some(known.token)
    }

    /// Whether it was looked up lately and worked then.
    pub(crate) fn was_known(&self, hash: &Digest) -> bool {
        self.lock().contains_key(hash)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Digest, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
