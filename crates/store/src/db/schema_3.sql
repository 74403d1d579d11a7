-- Sessions and their messages; notes and tasks; tokens and sign-in links; agents made over the API.

CREATE TABLE sessions (
    number        INTEGER PRIMARY KEY,
    user          TEXT NOT NULL,
    agent         TEXT NOT NULL,
    name          TEXT NOT NULL,
    kind          TEXT NOT NULL,
    state         TEXT NOT NULL,
    parent_user   TEXT,
    parent_agent  TEXT,
    parent_name   TEXT,
    label         TEXT NOT NULL,           -- empty if it has none
    model         TEXT NOT NULL,           -- empty if it has none of its own
    metadata      TEXT NOT NULL,           -- JSON
    rights        TEXT NOT NULL,           -- JSON
    run           TEXT,                    -- JSON: what it is doing now
    context_from  INTEGER NOT NULL DEFAULT 0,
    messages      INTEGER NOT NULL DEFAULT 0,
    input_tokens  INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros   INTEGER NOT NULL DEFAULT 0,
    calls         INTEGER NOT NULL DEFAULT 0,
    created_at    INTEGER NOT NULL,
    active_at     INTEGER NOT NULL,
    writer        TEXT,                    -- the process that runs it
    UNIQUE (user, agent, name)
) STRICT;

CREATE INDEX sessions_by_time ON sessions (active_at);
CREATE INDEX sessions_by_user ON sessions (user, active_at);
CREATE INDEX sessions_by_kind ON sessions (kind, active_at);
CREATE INDEX sessions_by_parent ON sessions (parent_user, parent_agent, parent_name)
    WHERE parent_name IS NOT NULL;
CREATE INDEX sessions_running ON sessions (state) WHERE state IN ('running', 'waiting');

CREATE TABLE messages (
    session INTEGER NOT NULL REFERENCES sessions (number) ON DELETE CASCADE,
    number  INTEGER NOT NULL,              -- from 0, one by one
    role    TEXT NOT NULL,
    content TEXT NOT NULL,                 -- JSON
    at      INTEGER NOT NULL,
    PRIMARY KEY (session, number)
) STRICT;

CREATE TABLE notes (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    user       TEXT NOT NULL,
    title      TEXT NOT NULL,
    content    TEXT NOT NULL,
    tags       TEXT NOT NULL,              -- JSON, in lower case
    untrusted  TEXT,                       -- what untrusted content it may come from
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX notes_by_user ON notes (user, created_at);

-- The words of the notes. What is found is looked up in `notes`; a note is never changed in place.
CREATE VIRTUAL TABLE note_words USING fts5 (
    title, content, tags, content = 'notes', content_rowid = 'number',
    tokenize = 'unicode61 remove_diacritics 2'
);

CREATE TRIGGER notes_added AFTER INSERT ON notes BEGIN
    INSERT INTO note_words (rowid, title, content, tags)
    VALUES (new.number, new.title, new.content, new.tags);
END;

CREATE TRIGGER notes_removed AFTER DELETE ON notes BEGIN
    INSERT INTO note_words (note_words, rowid, title, content, tags)
    VALUES ('delete', old.number, old.title, old.content, old.tags);
END;

CREATE TABLE tasks (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    user         TEXT NOT NULL,
    title        TEXT NOT NULL,
    due_date     TEXT,                     -- ISO 8601
    due_at       INTEGER,                  -- the same, to sort by
    status       TEXT NOT NULL,
    priority     INTEGER NOT NULL,         -- 0 low, 1 medium, 2 high
    created_at   INTEGER NOT NULL,
    changed_at   INTEGER NOT NULL,
    completed_at INTEGER,
    untrusted    TEXT                      -- what untrusted content it may come from
) STRICT;

CREATE INDEX tasks_by_user ON tasks (user, status);

-- What calls changed about notes and tasks, so that it can be taken back.
CREATE TABLE row_changes (
    number     INTEGER PRIMARY KEY,
    call_id    TEXT NOT NULL,
    user       TEXT NOT NULL,
    kind       TEXT NOT NULL,              -- note or task
    row_id     TEXT NOT NULL,
    before     TEXT,                       -- JSON of the row; absent if there was none
    after      TEXT,                       -- hash of that JSON; absent if there is none
    changed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX row_changes_by_call ON row_changes (call_id);
CREATE INDEX row_changes_by_user ON row_changes (user, number);

CREATE TABLE tokens (
    id           TEXT PRIMARY KEY,
    hash         TEXT NOT NULL UNIQUE,     -- SHA-256 of the token, which nobody keeps
    kind         TEXT NOT NULL,
    name         TEXT NOT NULL,
    user         TEXT NOT NULL,
    role         TEXT NOT NULL,
    agents       TEXT,                     -- JSON; every agent if absent
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    last_used_at INTEGER,
    revoked_by   TEXT,
    revoked_at   INTEGER,
    made_by      TEXT,                     -- the token it was made with; absent if a person made it
    family       TEXT NOT NULL,            -- the first of those that made each other; its own id if it is that
    has_asked    INTEGER NOT NULL DEFAULT 0 -- whether one of its family ever made a call or spoke to an agent
) STRICT;

CREATE INDEX tokens_by_family ON tokens (family);

-- Which tokens made calls or spoke in which sessions: one row for each family of tokens. A row without
-- a session stands for all sessions.
CREATE TABLE speakers (
    user    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    token   TEXT NOT NULL,                 -- the family
    PRIMARY KEY (user, agent, session, token)
) STRICT, WITHOUT ROWID;

CREATE INDEX speakers_by_token ON speakers (token);

-- Links that sign somebody in, once.
CREATE TABLE links (
    hash       TEXT PRIMARY KEY,           -- SHA-256 of what is in the link
    expires_at INTEGER NOT NULL
) STRICT;

CREATE TABLE agents (
    id         TEXT PRIMARY KEY,
    owner      TEXT NOT NULL,
    settings   TEXT NOT NULL,              -- JSON
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;
