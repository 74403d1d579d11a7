//! The notes of users.

use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Sqlite, Transaction};
use tool::{ItemId, NewNote, Note, NoteSearch};

use super::{
    By, Db,
    rows::{END, Kind, Target, new_target, remember, snapshot},
};
use crate::{
    StoreError,
    names::list,
    time::{from_micros, micros},
};

/// So many notes one user can have.
const MAX_NOTES: i64 = 50_000;
/// So many words of a query are looked for.
const MAX_WORDS: usize = 32;

/// A note as it is stored, but for its number.
#[derive(Debug, Clone, PartialEq, Eq, FromRow, Serialize, Deserialize)]
pub(super) struct NoteRow {
    id: String,
    user: String,
    title: String,
    content: String,
    tags: String,
    untrusted: Option<String>,
    created_at: i64,
}

impl NoteRow {
    pub(super) async fn find(
        read: &mut Transaction<'_, Sqlite>,
        target: &Target,
    ) -> Result<Option<Self>, StoreError> {
        let found = sqlx::query_as("SELECT * FROM notes WHERE id = ? AND user = ?")
            .bind(&target.id)
            .bind(&target.user)
            .fetch_optional(&mut **read)
            .await?;
        Ok(found)
    }

    pub(super) async fn insert(
        self,
        write: &mut Transaction<'_, Sqlite>,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO notes (id, user, title, content, tags, untrusted, created_at)
             VALUES (?, ?, ?, ?, ?, ?, ?)",
        )
        .bind(self.id)
        .bind(self.user)
        .bind(self.title)
        .bind(self.content)
        .bind(self.tags)
        .bind(self.untrusted)
        .bind(self.created_at)
        .execute(&mut **write)
        .await?;
        Ok(())
    }

    fn note(self) -> Result<Note, StoreError> {
        Ok(Note {
            id: self.id.parse().map_err(StoreError::NotUnderstood)?,
            title: self.title,
            content: self.content,
            tags: serde_json::from_str(&self.tags)?,
            untrusted: self.untrusted,
            created_at: from_micros(self.created_at),
        })
    }
}

impl Db {
    /// Saves a note.
    pub async fn add_note(&self, user: &str, new: NewNote, by: By<'_>) -> Result<Note, StoreError> {
        let NewNote { title, content, tags } = new;
        let mut write = self.begin().await?;
        let have: i64 = sqlx::query_scalar("SELECT count(*) FROM notes WHERE user = ?")
            .bind(user)
            .fetch_one(&mut *write)
            .await?;
        if have >= MAX_NOTES {
            return Err(StoreError::TooMany { what: "notes", most: MAX_NOTES });
        }
        let target = new_target(Kind::Note, user);
        let row = NoteRow {
            id: target.id.clone(),
            user: user.to_owned(),
            title,
            content,
            tags: serde_json::to_string(&tidy(&tags))?,
            untrusted: by.untrusted.map(str::to_owned),
            created_at: micros(by.now),
        };
        row.clone().insert(&mut write).await?;
        remember(&mut write, &target, None, by).await?;
        write.commit().await?;
        row.note()
    }

    /// The notes that `search` finds, the best first. Any text can be searched for.
    pub async fn search_notes(
        &self,
        user: &str,
        search: &NoteSearch,
    ) -> Result<Vec<Note>, StoreError> {
        let NoteSearch { query, tags, limit } = search;
        let tags = list(&tidy(tags))?;
        for words in words(query) {
            let found = sqlx::query_as(
                "SELECT notes.* FROM note_words JOIN notes ON notes.number = note_words.rowid
                 WHERE note_words MATCH ?1 AND notes.user = ?2 AND (?3 IS NULL OR NOT EXISTS
                    (SELECT 1 FROM json_each(?3) AS wanted WHERE wanted.value NOT IN
                        (SELECT value FROM json_each(notes.tags))))
                 ORDER BY bm25(note_words, 4.0, 1.0, 2.0), notes.number DESC LIMIT ?4",
            )
            .bind(words)
            .bind(user)
            .bind(&tags)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
            if !found.is_empty() {
                return all(found);
            }
        }
        self.notes_with(user, query, tags, *limit).await
    }

    /// Notes that have a text just as it is written: what is no word, part of a word, or a language
    /// that puts no spaces between words. The newest first.
    async fn notes_with(
        &self,
        user: &str,
        text: &str,
        tags: Option<String>,
        limit: u32,
    ) -> Result<Vec<Note>, StoreError> {
        let found = sqlx::query_as(
            "SELECT * FROM notes WHERE user = ?2 AND (?1 = '' OR instr(lower(title), lower(?1)) > 0
                OR instr(lower(content), lower(?1)) > 0 OR instr(tags, lower(?1)) > 0)
             AND (?3 IS NULL OR NOT EXISTS
                (SELECT 1 FROM json_each(?3) AS wanted WHERE wanted.value NOT IN
                    (SELECT value FROM json_each(notes.tags))))
             ORDER BY created_at DESC, number DESC LIMIT ?4",
        )
        .bind(text.trim())
        .bind(user)
        .bind(tags)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        all(found)
    }

    /// The notes of a user, the newest first, without the first `skip`.
    pub async fn notes(&self, user: &str, skip: u32, limit: u32) -> Result<Vec<Note>, StoreError> {
        let found = sqlx::query_as(
            "SELECT * FROM notes WHERE user = ? ORDER BY created_at DESC, number DESC
             LIMIT ? OFFSET ?",
        )
        .bind(user)
        .bind(limit)
        .bind(skip)
        .fetch_all(&self.pool)
        .await?;
        all(found)
    }

    /// One note of a user, by its id or the beginning of it.
    pub async fn note(&self, user: &str, id: &ItemId) -> Result<Option<Note>, StoreError> {
        let mut read = self.pool.begin().await?;
        match whole(&mut read, user, id).await? {
            Some(target) => {
                let row = NoteRow::find(&mut read, &target).await?;
                row.map(NoteRow::note).transpose()
            }
            None => Ok(None),
        }
    }

    /// Removes a note. Says which one it was.
    pub async fn remove_note(
        &self,
        user: &str,
        id: &ItemId,
        by: By<'_>,
    ) -> Result<Option<Note>, StoreError> {
        let mut write = self.begin().await?;
        let Some(target) = whole(&mut write, user, id).await? else { return Ok(None) };
        let row = NoteRow::find(&mut write, &target).await?;
        let before = snapshot(&mut write, &target).await?;
        sqlx::query("DELETE FROM notes WHERE id = ?").bind(&target.id).execute(&mut *write).await?;
        remember(&mut write, &target, before, by).await?;
        write.commit().await?;
        row.map(NoteRow::note).transpose()
    }
}

async fn whole(
    read: &mut Transaction<'_, Sqlite>,
    user: &str,
    typed: &ItemId,
) -> Result<Option<Target>, StoreError> {
    let found = sqlx::query_scalar(
        "SELECT id FROM notes WHERE id >= ?1 AND id < ?1 || ?2 AND user = ?3 LIMIT 2",
    )
    .bind(typed.as_str())
    .bind(END)
    .bind(user)
    .fetch_all(&mut **read)
    .await?;
    Ok(Target::only(Kind::Note, user, found))
}

fn all(rows: Vec<NoteRow>) -> Result<Vec<Note>, StoreError> {
    rows.into_iter().map(NoteRow::note).collect()
}

/// Without spaces around them, in lower case, each once.
fn tidy(tags: &[String]) -> Vec<String> {
    let mut tidy: Vec<String> = Vec::new();
    for tag in tags.iter().map(|tag| tag.trim().to_lowercase()) {
        if !tag.is_empty() && !tidy.contains(&tag) {
            tidy.push(tag);
        }
    }
    tidy
}

/// What to look for, in the language of the index: first all of the words, then any of them. The last
/// may be the beginning of one.
fn words(query: &str) -> Vec<String> {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    let words = query.split(|c: char| c.is_whitespace() || c == '\0').filter(is_word);
    // In quotes nothing means anything but itself.
    let quoted = words.take(MAX_WORDS).map(|word| format!("\"{}\"", word.replace('"', "\"\"")));
    let quoted: Vec<_> = quoted.collect();
    match quoted.as_slice() {
        [] => Vec::new(),
        [one] => vec![format!("{one}*")],
        many => vec![format!("{}*", many.join(" ")), format!("{}*", many.join(" OR "))],
    }
}
