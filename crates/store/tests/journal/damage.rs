//! Files that a disk, not a person, has changed.

use std::{fs, os::unix::fs::FileExt as _, path::Path};

use rusqlite::Connection;
use serde_json::json;
use store::{Durability::Process, Journal, StoreError};

use crate::helper::{Setup, intent_with, outcome};

const PAGE: u64 = 4096;

/// What happens to a file, and its name.
type Damage = (&'static str, fn(&Path));

/// A journal with some calls, all of it in the one file.
fn written(calls: usize, bytes: usize) -> Setup {
    let setup = Setup::new();
    let journal = setup.journal();
    for _ in 0..calls {
        let call = setup.call();
        let input = json!({"path": "a.txt", "content": "x".repeat(bytes)});
        journal.append_blocking(vec![intent_with(call, input), outcome(call)], Process).unwrap();
    }
    drop(journal);
    let conn = Connection::open(file(&setup)).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    setup
}

fn file(setup: &Setup) -> std::path::PathBuf {
    setup.data().join("journal.db")
}

fn zero(path: &Path, pages: impl Iterator<Item = u64>) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    pages.for_each(|page| file.write_all_at(&[0; 4096], page * PAGE).unwrap());
}

fn cut(path: &Path) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let pages = file.metadata().unwrap().len() / PAGE;
    file.set_len(pages / 2 * PAGE).unwrap();
}

fn open(setup: &Setup) -> Result<Journal, StoreError> {
    Journal::open(&setup.data(), setup.time.clone())
}

#[test]
fn a_damaged_journal_is_refused_until_it_is_repaired() {
    let damages: [Damage; 5] = [
        ("a page in the middle", |path| zero(path, [20].into_iter())),
        ("the last page", |path| {
            let pages = fs::metadata(path).unwrap().len() / PAGE;
            zero(path, pages - 1..pages);
        }),
        ("the first page", |path| zero(path, 0..1)),
        ("another file", |path| fs::write(path, "no database at all".repeat(500)).unwrap()),
        ("half of it", cut),
    ];
    for (what, damage) in damages {
        let setup = written(100, 10);
        damage(&file(&setup));
        for _ in 0..2 {
            let error = open(&setup).unwrap_err();
            assert!(error.is_damage(), "{what}: {error:?}");
            let message = error.to_string();
            assert!(message.contains("journal.db"), "{what}: {message}");
            assert!(message.contains("toolgate audit repair"), "{what}: {message}");
        }
        let repair = Journal::repair(&setup.data(), setup.time.clone()).unwrap();
        assert!(repair.set_aside.exists(), "{what}");
        assert!(repair.last_good_seq < 200, "{what}: {repair:?}");
        let journal = open(&setup).unwrap();
        assert_eq!(journal.verify(None).unwrap().first_bad, None, "{what}");
        let mut records = Vec::new();
        let mut each = |record| {
            records.push(record);
            Ok(())
        };
        journal.export(&mut each).unwrap();
        assert_eq!(records[0]["kind"], "repair", "{what}");
        let hash = &records[0]["payload"]["last_good_hash"];
        assert_eq!(*hash, json!(repair.last_good_hash), "{what}");
    }
}

#[test]
fn damage_of_a_large_journal_is_found_without_reading_all_of_it() {
    let damages: [Damage; 2] = [
        ("a third of the pages", |path| {
            let pages = fs::metadata(path).unwrap().len() / PAGE;
            zero(path, (pages / 3)..(pages / 3 * 2));
        }),
        ("the second half", cut),
    ];
    for (what, damage) in damages {
        let setup = written(700, 3_500);
        assert!(fs::metadata(file(&setup)).unwrap().len() > 2 * 1024 * 1024);
        drop(open(&setup).unwrap());
        damage(&file(&setup));
        assert!(open(&setup).is_err_and(|error| error.is_damage()), "{what}");
    }
}

#[test]
fn damage_that_verify_finds_is_remembered() {
    let setup = written(700, 3_500);
    let journal = open(&setup).unwrap();
    let pages = fs::metadata(file(&setup)).unwrap().len() / PAGE;
    zero(&file(&setup), [pages / 2].into_iter());
    let found = journal.verify(None);
    assert!(found.is_err_and(|error| error.is_damage()));
    drop(journal);
    assert!(open(&setup).is_err_and(|error| error.is_damage()));
}

#[test]
fn a_journal_in_use_is_not_set_aside() {
    let setup = written(1, 10);
    let journal = open(&setup).unwrap();
    let refused = Journal::repair(&setup.data(), setup.time.clone());
    assert!(matches!(refused, Err(StoreError::JournalInUse)), "{refused:?}");
    drop(journal);
    let data = setup.data();
    let repair = Journal::repair(&data, setup.time).unwrap();
    assert_eq!(repair.last_good_seq, 2, "one that is whole can be set aside too");
}

#[test]
fn nothing_of_an_erased_payload_is_left_in_the_files() {
    let setup = Setup::new();
    let journal = setup.journal();
    for n in 0..600 {
        let call = setup.call();
        let content = "private-text ".repeat(1 + n * 7 % 400);
        let input = json!({"path": "a.txt", "content": content});
        journal.append_blocking(vec![intent_with(call, input), outcome(call)], Process).unwrap();
    }
    let found = || {
        let files = ["journal.db", "journal.db-wal"].map(|name| setup.data().join(name));
        let all: Vec<u8> =
            files.iter().flat_map(|path| fs::read(path).unwrap_or_default()).collect();
        all.windows(12).filter(|part| *part == b"private-text").count()
    };
    assert!(found() > 600);
    setup.time.set(2_000_000);
    let erased = journal.prune_payloads(crate::helper::at(1_500_000)).unwrap();
    assert_eq!((erased, found()), (1_200, 0));
    assert_eq!(journal.verify(None).unwrap().first_bad, None);
}
