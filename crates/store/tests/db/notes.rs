//! Notes, and how they are found.

use tool::{ItemId, NewNote, Note, NoteSearch};

use crate::{Setup, at, by};

impl Setup {
    pub(crate) async fn note(&self, user: &str, title: &str, content: &str, tags: &[&str]) -> Note {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        let new = NewNote { title: title.into(), content: content.into(), tags };
        self.db.add_note(user, new, by(100)).await.unwrap()
    }

    pub(crate) async fn found(&self, user: &str, query: &str, tags: &[&str]) -> Vec<String> {
        let tags = tags.iter().map(|&tag| tag.to_owned()).collect();
        let search = NoteSearch { query: query.into(), tags, limit: 99 };
        let found = self.db.search_notes(user, &search).await.unwrap();
        found.into_iter().map(|note| note.title).collect()
    }
}

#[tokio::test]
async fn a_note_is_kept_as_it_was_given() {
    let setup = Setup::new().await;
    let note = setup.note("ada", "T", " a\n\"b\"\u{1F600} ", &[" Work ", "work", "", "Über"]).await;
    assert_eq!((note.title.as_str(), note.content.as_str()), ("T", " a\n\"b\"\u{1F600} "));
    assert_eq!((&note.tags, note.created_at), (&vec!["work".into(), "über".into()], at(100)));
    let another = setup.another().await;
    assert_eq!(another.note("ada", &note.id).await.unwrap().unwrap(), note);
    let short: ItemId = note.id.short().parse().unwrap();
    assert_eq!(another.note("ada", &short).await.unwrap().unwrap(), note);
}

#[tokio::test]
async fn notes_are_found_by_their_words() {
    let setup = Setup::new().await;
    setup.note("ada", "Oslo", "the boat leaves at nine from pier 3", &["travel"]).await;
    setup.note("ada", "Boat", "sails and ropes", &["hobby", "travel"]).await;
    setup.note("ada", "Café München", "Kuchen, C++ & \"quotes\"", &["food"]).await;
    setup.note("ada", "会議メモ", "来週の会議は金曜日", &["仕事"]).await;
    setup.note("bob", "Secret boat", "of bob", &["travel"]).await;
    for (query, tags, expected) in [
        // The title weighs more than the content.
        ("boat", &[][..], "Boat, Oslo"),
        ("BOAT", &[], "Boat, Oslo"),
        ("boat pier", &[], "Oslo"),
        ("pier leaves", &[], "Oslo"),
        // All of the words, else any of them.
        ("boat unicorn", &[], "Boat, Oslo"),
        ("lea", &[], "Oslo"),
        ("leaves pi", &[], "Oslo"),
        ("cafe munchen", &[], "Café München"),
        ("travel", &[], "Boat, Oslo"),
        ("boat", &["travel"], "Boat, Oslo"),
        ("boat", &["travel", "HOBBY"], "Boat"),
        ("", &["travel"], "Boat, Oslo"),
        ("  ", &["food"], "Café München"),
        ("", &["trave"], ""),
        ("unicorn", &[], ""),
        // What is no word, or part of one.
        ("C++", &[], "Café München"),
        ("&", &[], "Café München"),
        ("oat", &[], "Boat, Oslo"),
        ("会議", &[], "会議メモ"),
        ("金曜日", &[], "会議メモ"),
        ("secret", &[], ""),
    ] {
        let found = setup.found("ada", query, tags).await.join(", ");
        assert_eq!(found, expected, "{query} {tags:?}");
    }
    assert_eq!(setup.found("bob", "", &[]).await, ["Secret boat"]);
    assert!(setup.found("eve", "boat", &[]).await.is_empty());
}

#[tokio::test]
async fn any_text_can_be_searched_for() {
    let setup = Setup::new().await;
    setup.note("ada", "x", "some words", &[]).await;
    for query in [
        "\"",
        "\"\"\"",
        "a\"b",
        "\"unclosed words",
        "words*",
        "*",
        "title:words",
        "-words",
        "^words",
        "words NEAR(",
        "AND",
        "OR OR",
        "NOT words",
        "(words",
        "words)",
        "{title}: x",
        "some + words",
        "a\0b",
        "\0",
        "'; DROP TABLE notes; --",
        "%_",
        "\u{301}\u{200d}",
        "😀",
    ] {
        let search = NoteSearch { query: query.into(), tags: vec![query.into()], limit: 5 };
        setup.db.search_notes("ada", &search).await.unwrap();
        setup.found("ada", query, &[]).await;
    }
    setup.found("ada", &"word ".repeat(10_000), &[]).await;
    setup.found("ada", &"w".repeat(100_000), &[]).await;
    assert_eq!(setup.found("ada", "words*", &[]).await, ["x"]);
}

#[tokio::test]
async fn notes_are_listed_newest_first_and_by_page() {
    let setup = Setup::new().await;
    for title in ["1", "2", "3"] {
        setup.note("ada", title, "", &[]).await;
    }
    setup.note("bob", "b", "", &[]).await;
    for (skip, limit, expected) in [(0, 9, "321"), (0, 2, "32"), (2, 2, "1"), (3, 2, "")] {
        let found = setup.db.notes("ada", skip, limit).await.unwrap();
        assert_eq!(found.iter().map(|note| &*note.title).collect::<String>(), expected);
    }
    assert_eq!(setup.found("ada", "", &[]).await, ["3", "2", "1"]);
}

#[tokio::test]
async fn a_removed_note_is_not_found() {
    let setup = Setup::new().await;
    let note = setup.note("ada", "Boat", "x", &[]).await;
    assert_eq!(setup.db.remove_note("bob", &note.id, by(1)).await.unwrap(), None);
    assert_eq!(setup.found("ada", "boat", &[]).await, ["Boat"]);
    assert_eq!(setup.db.remove_note("ada", &note.id, by(1)).await.unwrap(), Some(note.clone()));
    assert_eq!(setup.db.remove_note("ada", &note.id, by(1)).await.unwrap(), None);
    assert!(setup.found("ada", "boat", &[]).await.is_empty());
    assert_eq!(setup.db.note("ada", &note.id).await.unwrap(), None);
}
