//! What is appended stays, once, in order.

use std::{
    fs, future::poll_fn, os::unix::fs::PermissionsExt, sync::Arc, task::Poll, thread,
    time::Duration,
};

use rusqlite::Connection;
use serde_json::json;
use store::{
    Durability::{Disk, Process},
    Filter, Journal,
};
use tool::ChangeLog;

use crate::helper::{Setup, Ticking, at, change, created, intent, intent_with, journal, outcome};

#[test]
fn only_the_owner_can_look_into_the_folder() {
    let setup = Setup::new();
    let journal = setup.journal();
    journal.append_blocking(vec![intent(setup.call())], Disk).unwrap();
    let mode =
        |path: &str| fs::metadata(setup.data().join(path)).unwrap().permissions().mode() & 0o777;
    for (path, expected) in [
        ("", 0o700),
        ("writers", 0o700),
        ("journal.db", 0o600),
        ("journal.db-wal", 0o600),
        ("journal.db-shm", 0o600),
    ] {
        assert_eq!(mode(path), expected, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn appends_of_every_kind_at_once_make_one_chain() {
    let setup = Setup::new();
    let journals = [setup.journal(), setup.journal()];
    let tasks: Vec<_> = (0..200)
        .map(|index| {
            let (journal, call) = (journals[index % 2].clone(), setup.call());
            let durability = if index % 3 == 0 { Disk } else { Process };
            tokio::spawn(async move {
                journal.append(vec![intent(call)], durability).await.unwrap();
                journal.append(vec![change(call), outcome(call)], durability).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let found = journals[0].verify(None).unwrap();
    assert_eq!((found.entries, found.records, found.first_bad), (200, 600, None));
}

#[tokio::test]
async fn records_that_wait_for_the_disk_are_committed_together() {
    let setup = Setup::new();
    let journal = journal(&setup.data(), Arc::new(Ticking::default()));
    // While somebody else writes, everybody queues up.
    let other = Connection::open(setup.data().join("journal.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting: Vec<_> = (0..50)
        .map(|_| {
            let (journal, call) = (journal.clone(), setup.call());
            tokio::spawn(async move { journal.append(vec![intent(call)], Disk).await })
        })
        .collect();
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").unwrap();
    for append in waiting {
        append.await.unwrap().unwrap();
    }
    assert_eq!(setup.number("SELECT count(*) FROM records"), 50);
    // The first may start before the others have come; each commit looks at the clock once.
    assert!(setup.number("SELECT count(DISTINCT at) FROM records") <= 2);
}

#[tokio::test]
async fn those_who_write_at_once_share_a_commit() {
    let setup = Setup::new();
    let journal = journal(&setup.data(), Arc::new(Ticking::default()));
    let appends: Vec<_> = (0..50)
        .map(|_| {
            let (journal, call) = (journal.clone(), setup.call());
            tokio::spawn(async move { journal.append(vec![intent(call)], Process).await })
        })
        .collect();
    for append in appends {
        append.await.unwrap().unwrap();
    }
    assert_eq!(setup.number("SELECT count(*) FROM records"), 50);
    assert!(setup.number("SELECT count(DISTINCT at) FROM records") <= 2);
}

#[tokio::test]
async fn whoever_came_first_and_gave_up_leaves_nobody_waiting() {
    let setup = Setup::new();
    let (journal, [gone, stays]) = (setup.journal(), [setup.call(), setup.call()]);
    let mut first = Box::pin(journal.append(vec![intent(gone)], Process));
    let polled = poll_fn(|cx| Poll::Ready(first.as_mut().poll(cx).is_pending())).await;
    assert!(polled, "it waits for others");
    drop(first);
    journal.append(vec![intent(stays)], Process).await.unwrap();
    assert_eq!(setup.number("SELECT count(*) FROM records"), 2);
}

#[tokio::test]
async fn an_append_waits_for_another_process_instead_of_failing() {
    let setup = Setup::new();
    let journal = setup.journal();
    let other = Connection::open(setup.data().join("journal.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let append = tokio::spawn({
        let (journal, call) = (journal.clone(), setup.call());
        async move { journal.append(vec![intent(call)], Process).await }
    });
    tokio::task::yield_now().await;
    other.execute_batch("COMMIT").unwrap();
    append.await.unwrap().unwrap();
    assert_eq!(setup.number("SELECT count(*) FROM records"), 1);
}

#[tokio::test]
async fn an_append_goes_on_when_nobody_waits_for_it() {
    let setup = Setup::new();
    let journal = setup.journal();
    let call = setup.call();
    {
        let mut append = Box::pin(journal.append(vec![intent(call)], Disk));
        let waker = std::task::Waker::noop();
        let _ = append.as_mut().poll(&mut std::task::Context::from_waker(waker));
    }
    // The next one is behind it.
    journal.append(vec![outcome(call)], Disk).await.unwrap();
    assert_eq!(setup.number("SELECT seq FROM records WHERE kind = 'intent'"), 1);
}

#[test]
fn an_append_goes_on_when_it_is_dropped_without_a_runtime() {
    for durability in [Process, Disk] {
        let setup = Setup::new();
        let (journal, call) = (setup.journal(), setup.call());
        let other = Connection::open(setup.data().join("journal.db")).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut append = Box::pin(journal.append(vec![intent(call)], durability));
                let waker = std::task::Waker::noop();
                let _ = append.as_mut().poll(&mut std::task::Context::from_waker(waker));
            });
            thread::sleep(Duration::from_millis(50));
            other.execute_batch("COMMIT").unwrap();
        });
        assert_eq!(setup.number("SELECT count(*) FROM records"), 1);
    }
}

#[test]
fn a_journal_is_written_from_many_threads() {
    let setup = Setup::new();
    let journal = setup.journal();
    thread::scope(|scope| {
        for index in 0..8 {
            let (journal, setup) = (&journal, &setup);
            scope.spawn(move || {
                for _ in 0..10 {
                    let durability = if index % 2 == 0 { Disk } else { Process };
                    journal.append_blocking(vec![intent(setup.call())], durability).unwrap();
                }
            });
        }
    });
    assert_eq!(journal.verify(None).unwrap().records, 80);
}

/// audit-007.
#[test]
fn order_does_not_depend_on_the_clock() {
    let setup = Setup::new();
    let journal = setup.journal();
    for seconds in [1_000_000, 10, 999_999, 0] {
        setup.time.set(seconds);
        journal.append_blocking(vec![intent(setup.call())], Process).unwrap();
    }
    let entries = journal.entries(&Filter::default()).unwrap();
    let times: Vec<_> = entries.iter().map(|entry| entry.created_at).collect();
    assert_eq!(times, [0, 999_999, 10, 1_000_000].map(at));
    assert!(journal.verify(None).unwrap().ok);
}

/// audit-009.
#[test]
fn a_large_argument_makes_a_small_record() {
    let setup = Setup::new();
    let journal = setup.journal();
    let call = setup.call();
    let input = json!({"path": "a.txt", "content": "x".repeat(1 << 20)});
    journal.append_blocking(vec![intent_with(call, input)], Process).unwrap();
    assert!(setup.number("SELECT length(content) FROM records") < 1_000);
    let entry = journal.entry(call).unwrap().unwrap();
    assert_eq!(entry.input["path"], "a.txt");
    assert_eq!(entry.input["content"]["$large"]["bytes"], 1 << 20);
}

#[test]
fn the_log_is_emptied_now_and_then() {
    let setup = Setup::new();
    let journal = setup.journal();
    for _ in 0..1_001 {
        journal.append_blocking(vec![intent(setup.call())], Process).unwrap();
    }
    assert_eq!(setup.number("SELECT checkpoints FROM upkeep"), 1);
    assert!(journal.verify(None).unwrap().ok);
}

#[test]
fn changes_are_recorded_before_they_happen() {
    let setup = Setup::new();
    let journal = setup.journal();
    let call = setup.call();
    journal.append_blocking(vec![intent(call)], Disk).unwrap();
    let lists = [vec![created("a"), created("b")], vec![created("c")]];
    for list in &lists {
        journal.record(call, list).unwrap();
    }
    assert_eq!(journal.changes(call).unwrap(), lists);
}

#[tokio::test]
async fn a_null_journal_keeps_nothing() {
    let setup = Setup::new();
    let (journal, call) = (Journal::null(), setup.call());
    journal.append(vec![intent(call)], Disk).await.unwrap();
    assert_eq!(journal.entry(call).unwrap(), None);
    assert!(!setup.data().exists());
}

#[tokio::test]
async fn a_journal_of_an_older_format_is_taken_over() {
    let second = "CREATE INDEX records_by_user ON records (user)";
    for (made, format) in [("", 1), (second, 2)] {
        let setup = Setup::new();
        let (journal, call) = (setup.journal(), setup.call());
        journal.append(vec![intent(call)], Disk).await.unwrap();
        drop(journal);
        setup.tamper(&format!(
            "DROP INDEX records_by_user; {made}; DROP VIEW tool_calls;
             CREATE VIEW tool_calls AS SELECT 1; PRAGMA user_version = {format}"
        ));
        let journal = setup.journal();
        assert!(journal.entry(call).unwrap().is_some(), "{format}");
        assert_eq!(journal.verify(None).unwrap().first_bad, None, "{format}");
    }
}

#[test]
fn a_newer_journal_is_left_alone() {
    let setup = Setup::new();
    drop(setup.journal());
    setup.tamper("PRAGMA user_version = 99");
    let error = Journal::open(&setup.data(), Arc::new(Ticking::default())).unwrap_err();
    assert!(error.to_string().contains("newer Toolgate (format 99)"), "{error}");
}
