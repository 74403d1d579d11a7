//! Whoever changes the journal is found out, at the right place.

use store::{Durability::Process, Filter, Journal};

use crate::helper::{Setup, change, intent, outcome};

/// Two writers take turns: a has 1, 2, 5, 6, 7; b has 3, 4, 8, 9.
fn two_writers(setup: &Setup) -> Journal {
    let (a, b) = (setup.journal(), setup.journal());
    let calls = [setup.call(), setup.call(), setup.call()];
    a.append_blocking(vec![intent(calls[0]), outcome(calls[0])], Process).unwrap();
    b.append_blocking(vec![intent(calls[1]), change(calls[1])], Process).unwrap();
    a.append_blocking(vec![intent(calls[2]), change(calls[2]), outcome(calls[2])], Process)
        .unwrap();
    b.append_blocking(vec![outcome(calls[1]), intent(setup.call())], Process).unwrap();
    a
}

#[test]
fn an_untouched_journal_verifies() {
    let setup = Setup::new();
    let journal = two_writers(&setup);
    let found = journal.verify(Some(&journal.checkpoint().unwrap())).unwrap();
    assert_eq!((found.entries, found.records, found.first_bad), (4, 9, None));
    assert!(found.ok);
}

/// audit-003.
#[test]
fn a_change_is_found_where_it_was_made() {
    let missing = "record is missing";
    let changed = "record was changed";
    let payload = "payload was changed";
    for (what, sql, expected) in [
        ("changed", "UPDATE records SET rule = 'none' WHERE seq = 5", (5, changed)),
        (
            "of another type",
            "UPDATE records SET rule = CAST(x'ff' AS TEXT) WHERE seq = 5",
            (5, changed),
        ),
        ("short hash", "UPDATE records SET hash = x'00' WHERE seq = 5", (5, changed)),
        ("moved in time", "UPDATE records SET at = at + 1 WHERE seq = 2", (2, changed)),
        (
            "text moved to the next column",
            "UPDATE records SET decision = '', rule = decision || rule WHERE seq = 5",
            (5, changed),
        ),
        ("removed", "DELETE FROM records WHERE seq = 4", (4, missing)),
        ("first removed", "DELETE FROM records WHERE seq = 1", (1, missing)),
        (
            "removed, gap closed",
            "DELETE FROM records WHERE seq = 4; UPDATE records SET seq = seq - 1 WHERE seq > 4",
            (4, changed),
        ),
        (
            "a chain removed",
            "DELETE FROM records WHERE writer = (SELECT writer FROM records WHERE seq = 3)",
            (3, missing),
        ),
        ("inserted", &insert(6), (6, changed)),
        ("inserted at the end", &insert(10), (10, changed)),
        (
            "swapped",
            "UPDATE records SET seq = -1 WHERE seq = 3; UPDATE records SET seq = 3 WHERE seq = 6; UPDATE records SET seq = 6 WHERE seq = -1",
            (3, changed),
        ),
        ("payload changed", "UPDATE records SET content = '{}' WHERE seq = 7", (7, payload)),
        (
            "payload removed",
            "UPDATE records SET content = NULL WHERE seq = 7",
            (7, "payload is missing, and no erasure was recorded"),
        ),
    ] {
        let setup = Setup::new();
        let journal = two_writers(&setup);
        setup.tamper(sql);
        let found = journal.verify(None).unwrap();
        let bad = found.first_bad.unwrap();
        assert!(!found.ok, "{what}");
        assert_eq!((bad.seq, bad.problem.as_str()), expected, "{what}");
    }
}

fn insert(seq: u64) -> String {
    format!(
        "UPDATE records SET seq = -seq WHERE seq >= {seq};
         UPDATE records SET seq = 1 - seq WHERE seq < 0;
         CREATE TEMP TABLE copy AS SELECT * FROM records WHERE seq = 2;
         UPDATE copy SET seq = {seq};
         INSERT INTO records SELECT * FROM copy;"
    )
}

#[test]
fn a_bad_record_is_named() {
    let setup = Setup::new();
    let journal = two_writers(&setup);
    setup.tamper("UPDATE records SET tool = 'read' WHERE seq = 5");
    let bad = journal.verify(None).unwrap().first_bad.unwrap();
    assert_eq!((bad.seq, bad.n), (5, Some(2)));
    let newest = journal.entries(&Filter::default()).unwrap();
    assert_eq!(bad.call_id, Some(newest[1].id.to_string()));
}

/// Somebody who knows how hashes are made can change the end; a checkpoint elsewhere tells.
/// audit-004.
#[test]
fn a_cut_tail_is_found_by_a_checkpoint() {
    let setup = Setup::new();
    let journal = two_writers(&setup);
    let checkpoint = journal.checkpoint().unwrap();
    setup.tamper("DELETE FROM records WHERE seq > 7");
    assert!(journal.verify(None).unwrap().ok);
    let bad = journal.verify(Some(&checkpoint)).unwrap().first_bad.unwrap();
    assert_eq!(
        (bad.seq, bad.problem.as_str()),
        (8, "records from here to the checkpoint were cut off")
    );
}

#[test]
fn a_history_written_anew_is_found_by_a_checkpoint() {
    let (setup, other) = (Setup::new(), Setup::new());
    let checkpoint = two_writers(&setup).checkpoint().unwrap();
    let journal = two_writers(&other);
    assert!(journal.verify(None).unwrap().ok);
    let bad = journal.verify(Some(&checkpoint)).unwrap().first_bad.unwrap();
    assert_eq!(bad.seq, 9);
    assert!(bad.problem.ends_with("they were written anew"), "{}", bad.problem);
}

#[test]
fn a_checkpoint_survives_being_written_down() {
    let setup = Setup::new();
    let journal = two_writers(&setup);
    let kept = serde_json::to_string(&journal.checkpoint().unwrap()).unwrap();
    journal.append_blocking(vec![outcome(setup.call())], Process).unwrap();
    let checkpoint = serde_json::from_str(&kept).unwrap();
    assert!(journal.verify(Some(&checkpoint)).unwrap().ok);
}

#[test]
fn a_changed_table_view_or_trigger_is_found() {
    for sql in [
        "CREATE TRIGGER quiet BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END",
        "DROP VIEW tool_calls",
        "DROP INDEX records_by_call",
    ] {
        let setup = Setup::new();
        let journal = two_writers(&setup);
        setup.tamper(sql);
        let found = journal.verify(None).unwrap();
        assert!(!found.ok && found.first_bad.is_some(), "{sql}");
    }
}

#[test]
fn a_record_that_was_not_taken_is_an_error() {
    let setup = Setup::new();
    let journal = two_writers(&setup);
    setup.tamper("CREATE TRIGGER quiet BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END");
    let append = journal.append_blocking(vec![intent(setup.call())], Process);
    assert!(append.is_err());
}
