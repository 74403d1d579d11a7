//! What the records of a call say together.

use insta::assert_json_snapshot;
use serde_json::{Value, json};
use store::{Durability::Process, Filter, Status};

use crate::helper::{Setup, at, change, failed, intent, intent_with, outcome, whole};

#[test]
fn an_entry_has_the_columns_people_expect() {
    let setup = Setup::new();
    let journal = setup.journal();
    let call = setup.call();
    journal.append_blocking(vec![intent(call), change(call), outcome(call)], Process).unwrap();
    let mut shown = serde_json::to_value(journal.entry(call).unwrap()).unwrap();
    shown["id"] = json!("…");
    assert_json_snapshot!(shown, @r#"
    {
      "agent": "main",
      "answered_by": null,
      "approval": null,
      "changed": [
        {
          "change": "created",
          "path": "a.txt"
        }
      ],
      "channel": null,
      "created_at": "1970-01-12T13:46:40.000Z",
      "decision": "allow",
      "effects": [
        "read",
        "write"
      ],
      "error_type": null,
      "execution_time_ms": 3,
      "finished": "1970-01-12T13:46:41.000Z",
      "id": "…",
      "input": {
        "path": "a.txt"
      },
      "message": null,
      "message_id": null,
      "output": "wrote `a.txt`",
      "place": "host",
      "plan": [
        {
          "read": "src"
        },
        {
          "write": "a.txt"
        }
      ],
      "provider": null,
      "provider_call_id": "call_1",
      "reason": "it can be undone",
      "role": "owner",
      "rule": "smart",
      "sender": null,
      "session": "main",
      "started": "1970-01-12T13:46:40.000Z",
      "status": "success",
      "tool_name": "write",
      "user_id": "owner"
    }
    "#);
}

#[test]
fn a_call_stands_as_its_records_say() {
    let setup = Setup::new();
    let (journal, dead) = (setup.journal(), setup.journal());
    let mut expected = vec![];
    for (end, status) in [
        (Some(None), Status::Success),
        (Some(Some("timeout")), Status::Error),
        (Some(Some("interrupted")), Status::Interrupted),
        (None, Status::Running),
    ] {
        let call = setup.call();
        journal.append_blocking(vec![intent(call)], Process).unwrap();
        let end = end.map(|error| error.map_or_else(|| outcome(call), |error| failed(call, error)));
        journal.append_blocking(end.into_iter().collect(), Process).unwrap();
        expected.push((call, status));
    }
    let left = setup.call();
    dead.append_blocking(vec![intent(left)], Process).unwrap();
    drop(dead);
    expected.push((left, Status::Interrupted));
    for (call, status) in &expected {
        assert_eq!(journal.entry(*call).unwrap().unwrap().status, *status);
    }
    for status in [Status::Success, Status::Error, Status::Interrupted, Status::Running] {
        let filter = Filter { status: Some(status), ..Filter::default() };
        let found: Vec<_> =
            journal.entries(&filter).unwrap().iter().map(|entry| entry.id).collect();
        let newest_first = expected.iter().rev().filter(|(_, other)| *other == status);
        assert_eq!(found, newest_first.map(|(call, _)| *call).collect::<Vec<_>>(), "{status}");
    }
}

#[test]
fn a_call_that_is_recorded_when_it_is_over_has_one_record_that_says_the_same() {
    let setup = Setup::new();
    let journal = setup.journal();
    setup.time.set(1_000_001);
    for ended in [outcome, |call| failed(call, "timeout"), |call| failed(call, "interrupted")] {
        let [two, one] = [setup.call(), setup.call()];
        journal.append_blocking(vec![intent(two), ended(two)], Process).unwrap();
        journal.append_blocking(vec![whole(intent(one), ended(one))], Process).unwrap();
        let [two, one] = [two, one].map(|call| journal.entry(call).unwrap().unwrap());
        assert_eq!(one, store::Entry { id: one.id, ..two });
    }
    let verified = journal.verify(None).unwrap();
    assert_eq!((verified.entries, verified.records, verified.ok), (6, 9, true));
    let counted = journal.counts(at(0), (None, None)).unwrap();
    let counted: Vec<_> = counted.into_iter().map(|(_, count)| count).collect();
    assert_eq!(counted, [2, 2, 0, 2]);
    setup.tamper("UPDATE records SET status = 'success' WHERE seq = 6");
    assert_eq!(journal.verify(None).unwrap().first_bad.unwrap().seq, 6);
}

#[test]
fn nobody_looks_after_a_call_that_was_over_when_it_was_recorded() {
    let setup = Setup::new();
    let (journal, dead) = (setup.journal(), setup.journal());
    let [over, open] = [setup.call(), setup.call()];
    dead.append_blocking(vec![whole(intent(over), outcome(over)), intent(open)], Process).unwrap();
    drop(dead);
    let abandoned = journal.abandoned().unwrap();
    let calls = abandoned.iter().flat_map(|writer| &writer.calls);
    assert_eq!(calls.map(|call| call.call).collect::<Vec<_>>(), [open]);
}

#[test]
fn entries_are_filtered() {
    let setup = Setup::new();
    let journal = setup.journal();
    for seconds in 0..10 {
        setup.time.set(seconds);
        journal.append_blocking(vec![intent(setup.call())], Process).unwrap();
    }
    let all = Filter::default;
    for (filter, expected) in [
        (all(), 10),
        (Filter { limit: 3, ..all() }, 3),
        (Filter { limit: 0, ..all() }, 0),
        (Filter { since: Some(at(7)), ..all() }, 3),
        (Filter { tool: Some("write".into()), ..all() }, 10),
        (Filter { tool: Some("read".into()), ..all() }, 0),
        (Filter { user: Some("owner".into()), session: Some("main".into()), ..all() }, 10),
        (Filter { user: Some("ada".into()), ..all() }, 0),
        (Filter { session: Some("other".into()), ..all() }, 0),
    ] {
        assert_eq!(journal.entries(&filter).unwrap().len(), expected, "{filter:?}");
    }
}

#[test]
fn people_can_query_calls_with_sql() {
    let setup = Setup::new();
    let journal = setup.journal();
    let call = setup.call();
    journal.append_blocking(vec![intent(call), outcome(call)], Process).unwrap();
    let columns =
        "id, message_id, user_id, tool_name, input, output, status, execution_time_ms, created_at";
    let sql = format!(
        "SELECT count(*) FROM (SELECT {columns} FROM tool_calls)
         WHERE id = '{call}' AND input = '{{\"path\":\"a.txt\"}}' AND status = 'success'
         AND execution_time_ms = 3 AND created_at = '1970-01-12T13:46:40.000Z'"
    );
    assert_eq!(setup.number(&sql), 1);
}

#[test]
fn erased_payloads_are_gone_and_the_chain_still_verifies() {
    let setup = Setup::new();
    let journal = setup.journal();
    let calls = [setup.call(), setup.call(), setup.call()];
    let marked = |call| intent_with(call, Value::String("tell nobody".into()));
    journal
        .append_blocking(vec![marked(calls[0]), change(calls[0]), outcome(calls[0])], Process)
        .unwrap();
    // Has no outcome: what it changed may have to be rolled back.
    journal.append_blocking(vec![intent(calls[1]), change(calls[1])], Process).unwrap();
    setup.time.set(2_000_000);
    journal.append_blocking(vec![intent(calls[2]), outcome(calls[2])], Process).unwrap();
    setup.time.set(1_000_000);
    let one = setup.call();
    journal.append_blocking(vec![whole(marked(one), outcome(one))], Process).unwrap();

    assert_eq!(journal.prune_payloads(at(1_500_000)).unwrap(), 4);
    assert_eq!(journal.prune_payloads(at(1_500_000)).unwrap(), 0);
    assert_eq!(journal.verify(None).unwrap().first_bad, None);
    let entry = journal.entry(calls[0]).unwrap().unwrap();
    assert_eq!((entry.input, entry.status), (Value::Null, Status::Success));
    assert!(journal.changes(calls[0]).unwrap_err().to_string().contains("erased by retention"));
    assert_eq!(journal.changes(calls[1]).unwrap().len(), 1);
    assert!(!journal.entry(calls[2]).unwrap().unwrap().output.is_null());
    for file in ["journal.db", "journal.db-wal"] {
        let bytes = std::fs::read(setup.data().join(file)).unwrap();
        assert!(!bytes.windows(11).any(|part| part == b"tell nobody"), "{file}");
    }
    // Whoever erases more than was recorded is found.
    setup.tamper("UPDATE records SET content = NULL WHERE seq = 7");
    assert_eq!(journal.verify(None).unwrap().first_bad.unwrap().seq, 7);
}

#[test]
fn much_is_erased_piece_by_piece_and_recorded_once() {
    let setup = Setup::new();
    let journal = setup.journal();
    let records = (0..2_500).map(|_| setup.call()).flat_map(|call| [intent(call), outcome(call)]);
    journal.append_blocking(records.collect(), Process).unwrap();
    assert_eq!(journal.prune_payloads(at(1_500_000)).unwrap(), 5_000);
    let verified = journal.verify(None).unwrap();
    assert_eq!((verified.records, verified.first_bad), (5_001, None));
}

#[test]
fn an_export_has_every_record_and_can_be_checked() {
    let setup = Setup::new();
    let journal = setup.journal();
    let call = setup.call();
    journal.append_blocking(vec![intent(call), change(call), outcome(call)], Process).unwrap();
    let mut records = vec![];
    let count = journal.export(&mut |record| {
        records.push(record);
        Ok(())
    });
    assert_eq!(count.unwrap(), 3);
    let kinds: Vec<_> = records.iter().map(|record| record["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["intent", "change", "outcome"]);
    for pair in records.windows(2) {
        assert_eq!(pair[1]["above"], pair[0]["hash"]);
    }
    for record in &records {
        let digest = tool::Digest::of(record["payload"].to_string()).to_string();
        assert_eq!(record["payload_sha256"], digest, "{}", record["kind"]);
    }
}
