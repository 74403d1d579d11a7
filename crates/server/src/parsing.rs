//! Large messages are parsed where they hold up nobody.
//!
//! JSON of some megabytes takes a tenth of a second to parse. On the threads that serve everybody, a few
//! such requests would let all others wait, so they are parsed on other threads, few at a time, and one at
//! a time for each user. What they may contain is bounded by `tool::parse_json`.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError, Weak},
};

use tokio::sync::Semaphore;

/// A shorter text takes well under a millisecond.
const MAX_INLINE_BYTES: usize = 64 * 1024;
/// Large texts that are parsed at once.
const MAX_AT_ONCE: usize = 2;
/// Large texts of one user that are parsed at once.
const MAX_AT_ONCE_PER_USER: usize = 1;

static ALL: Semaphore = Semaphore::const_new(MAX_AT_ONCE);
static USERS: LazyLock<Mutex<HashMap<String, Weak<Semaphore>>>> = LazyLock::new(Mutex::default);

/// Runs `parse`, which takes a text of `bytes` apart for `user`: here if it is short, else on another
/// thread when it is the user's turn. `None` if the process ends meanwhile.
pub(crate) async fn parse_for<T: Send + 'static>(
    user: &str,
    bytes: usize,
    parse: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    if bytes <= MAX_INLINE_BYTES {
        return Some(parse());
    }
    let own = turns_of(user);
    // The user's own turn comes first: whoever sends much waits for themselves, not before others.
    let _own = own.acquire().await.ok()?;
    let _all = ALL.acquire().await.ok()?;
    tokio::task::spawn_blocking(parse).await.ok()
}

fn turns_of(user: &str) -> Arc<Semaphore> {
    let mut users = USERS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(turns) = users.get(user).and_then(Weak::upgrade) {
        return turns;
    }
    users.retain(|_, turns| turns.strong_count() > 0);
    let turns = Arc::new(Semaphore::new(MAX_AT_ONCE_PER_USER));
    users.insert(user.to_owned(), Arc::downgrade(&turns));
    turns
}

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use super::*;

    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);

    #[tokio::test(flavor = "multi_thread")]
    async fn one_at_a_time_for_a_user_and_few_for_all() {
        let work = || {
            MOST.fetch_max(NOW.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(10));
            NOW.fetch_sub(1, Ordering::SeqCst);
        };
        let same = (0..8).map(|_| parse_for("ada", 1 << 20, work));
        futures_util::future::join_all(same).await;
        assert_eq!(MOST.swap(0, Ordering::SeqCst), 1);
        let users: Vec<String> = (0..8).map(|number| number.to_string()).collect();
        let others = users.iter().map(|user| parse_for(user, 1 << 20, work));
        futures_util::future::join_all(others).await;
        assert_eq!(MOST.load(Ordering::SeqCst), MAX_AT_ONCE);
        drop(turns_of("bo"));
        assert_eq!(USERS.lock().unwrap().len(), 1, "nobody is remembered");
    }
}
