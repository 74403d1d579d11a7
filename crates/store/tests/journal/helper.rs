//! The only file of these tests that knows how to build a record.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, SystemTime},
};

use rusqlite::Connection;
use serde_json::{Value, json};
use store::{Ending, Intent, Journal, Record};
use tempfile::TempDir;
use tool::{CallId, CallIds, Caller, Change, Clock, Effect, Effects, FilePath, FileState, Place};

/// A time that tests set. Starts a million seconds after 1970.
#[derive(Debug)]
pub(crate) struct Time(AtomicU64);

impl Default for Time {
    fn default() -> Self {
        Self(AtomicU64::new(1_000_000))
    }
}

impl Time {
    pub(crate) fn set(&self, seconds: u64) {
        self.0.store(seconds, Ordering::Relaxed);
    }
}

impl Clock for Time {
    fn now(&self) -> SystemTime {
        at(self.0.load(Ordering::Relaxed))
    }
}

/// A time that goes on by a second whenever somebody looks.
#[derive(Debug, Default)]
pub(crate) struct Ticking(AtomicU64);

impl Clock for Ticking {
    fn now(&self) -> SystemTime {
        at(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

pub(crate) fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

/// A data folder.
pub(crate) struct Setup {
    pub(crate) time: Arc<Time>,
    ids: CallIds,
    dir: TempDir,
}

impl Setup {
    pub(crate) fn new() -> Self {
        let time = Arc::new(Time::default());
        Self { ids: CallIds::new(time.clone()), time, dir: TempDir::new().unwrap() }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.dir.path().join("data")
    }

    pub(crate) fn journal(&self) -> Journal {
        journal(&self.data(), self.time.clone())
    }

    pub(crate) fn call(&self) -> CallId {
        self.ids.next()
    }

    /// What somebody does to the file behind our back.
    pub(crate) fn tamper(&self, sql: &str) {
        let conn = Connection::open(self.data().join("journal.db")).unwrap();
        conn.execute_batch(sql).unwrap();
    }

    /// The first column of the first row.
    pub(crate) fn number(&self, sql: &str) -> i64 {
        let conn = Connection::open(self.data().join("journal.db")).unwrap();
        conn.query_row(sql, [], |row| row.get(0)).unwrap()
    }
}

pub(crate) fn journal(data: &Path, clock: Arc<dyn Clock>) -> Journal {
    Journal::open(data, clock).unwrap()
}

pub(crate) fn intent(call: CallId) -> Record {
    intent_with(call, json!({"path": "a.txt"}))
}

pub(crate) fn intent_with(call: CallId, input: Value) -> Record {
    Record::Intent(Box::new(Intent {
        workspace: None,
        call,
        provider_call_id: Some("call_1".into()),
        message_id: None,
        rewrites: Vec::new(),
        caller: Arc::new(Caller::owner("main")),
        tool: "write".into(),
        input,
        plan: json!([{"read": "src"}, {"write": "a.txt"}]),
        effects: Effects::of(&[Effect::Read, Effect::Write]),
        decision: "allow".into(),
        rule: "smart".into(),
        reason: "it can be undone".into(),
        started: at(1_000_000),
    }))
}

/// What both say, in one record.
pub(crate) fn whole(intent: Record, outcome: Record) -> Record {
    let made = match (intent, outcome) {
        (Record::Intent(intent), Record::Outcome(ending)) => Some(Record::Call(intent, ending)),
        _ => None,
    };
    made.unwrap()
}

pub(crate) fn change(call: CallId) -> Record {
    Record::Change { call, changes: vec![created("a.txt")] }
}

pub(crate) fn created(path: &str) -> Change {
    Change {
        path: FilePath::new(path),
        root: "/ws".into(),
        inner: path.into(),
        before: FileState::Absent,
        after: FileState::Link { target: "b".into() },
        staged: Some(".staged-1".into()),
        displaced: None,
    }
}

pub(crate) fn outcome(call: CallId) -> Record {
    Record::Outcome(Box::new(ending(call)))
}

pub(crate) fn failed(call: CallId, error_type: &'static str) -> Record {
    let message = Some("no".to_owned());
    Record::Outcome(Box::new(Ending {
        error_type: Some(error_type.into()),
        message,
        ..ending(call)
    }))
}

fn ending(call: CallId) -> Ending {
    Ending {
        call,
        error_type: None,
        message: None,
        detail: None,
        output: json!("wrote `a.txt`"),
        decision: "allow".into(),
        rule: "smart".into(),
        approval: None,
        place: Some(Place::Host),
        effects: Effects::of(&[Effect::Read, Effect::Write]),
        changed: json!([{"path": "a.txt", "change": "created"}]),
        duration_ms: 3,
        answered_by: None,
        finished: at(1_000_001),
    }
}
