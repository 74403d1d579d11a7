//! Which process runs a session. Two journals stand for two processes.

use store::{Journal, SessionState};

use crate::{Setup, at, sessions::key};

impl Setup {
    async fn claim(&self, name: &str, journal: &Journal) -> bool {
        self.db.claim_session(&key(name), journal, at(1)).await.unwrap()
    }

    async fn abandoned(&self, journal: &Journal) -> Vec<String> {
        let found = self.db.abandoned_sessions(journal).await.unwrap();
        found.into_iter().map(|session| session.key.name).collect()
    }
}

#[tokio::test]
async fn a_session_runs_in_one_process_at_a_time() {
    let setup = Setup::new().await;
    setup.open("a", 1).await;
    let (one, two) = (setup.journal(), setup.journal());
    assert!(setup.claim("a", &one).await);
    assert!(setup.claim("a", &one).await, "it is ours already");
    assert!(!setup.claim("a", &two).await);
    setup.db.release_session(&key("a"), &two).await.unwrap();
    assert!(!setup.claim("a", &two).await, "only who has it can give it back");
    setup.db.release_session(&key("a"), &one).await.unwrap();
    assert!(setup.claim("a", &two).await);
    assert!(!setup.claim("a", &one).await);
}

#[tokio::test]
async fn the_claim_of_a_dead_process_is_taken_over_once() {
    let setup = Setup::new().await;
    setup.open("a", 1).await;
    let dead = setup.journal();
    assert!(setup.claim("a", &dead).await);
    drop(dead);
    let journals: Vec<_> = (0..6).map(|_| setup.journal()).collect();
    let claims: Vec<_> = journals
        .iter()
        .map(|journal| {
            let (db, journal) = (setup.db.clone(), journal.clone());
            tokio::spawn(async move { db.claim_session(&key("a"), &journal, at(2)).await.unwrap() })
        })
        .collect();
    let mut ours = 0;
    for claim in claims {
        ours += usize::from(claim.await.unwrap());
    }
    assert_eq!(ours, 1);
}

#[tokio::test]
async fn sessions_of_dead_processes_are_abandoned() {
    let setup = Setup::new().await;
    let (living, dead) = (setup.journal(), setup.journal());
    for (name, state, journal) in [
        ("running", SessionState::Running, Some(&dead)),
        ("waiting", SessionState::Waiting, Some(&dead)),
        ("idle", SessionState::Idle, Some(&dead)),
        ("nobody's", SessionState::Running, None),
        ("alive", SessionState::Running, Some(&living)),
    ] {
        setup.open(name, 1).await;
        if let Some(journal) = journal {
            assert!(setup.claim(name, journal).await);
        }
        setup.set_state(name, state).await;
    }
    assert_eq!(setup.abandoned(&living).await, ["nobody's"]);
    drop(dead);
    let mut abandoned = setup.abandoned(&living).await;
    abandoned.sort();
    assert_eq!(abandoned, ["nobody's", "running", "waiting"]);
    // Also after somebody has cleaned up after the dead process.
    drop(living.abandoned().unwrap());
    assert!(setup.claim("running", &living).await);
    assert_eq!(setup.abandoned(&living).await.len(), 2);
}
