-- What a question shows besides the call, and that an answer is used once.
ALTER TABLE approvals ADD COLUMN cwd       TEXT;                          -- where a command starts
ALTER TABLE approvals ADD COLUMN changes   TEXT NOT NULL DEFAULT '[]';    -- JSON: what a command changed already, held until the answer
ALTER TABLE approvals ADD COLUMN untrusted TEXT NOT NULL DEFAULT '[]';    -- JSON: what the session had read
ALTER TABLE approvals ADD COLUMN waiting   INTEGER NOT NULL DEFAULT 1;    -- whether a call waits for the answer
ALTER TABLE approvals ADD COLUMN used_by   TEXT;                          -- the call that ran because of it
ALTER TABLE approvals ADD COLUMN used_at   INTEGER;

CREATE INDEX approvals_by_fingerprint ON approvals (fingerprint) WHERE used_at IS NULL;

-- What untrusted content a session has read.
CREATE TABLE sources (
    user    TEXT NOT NULL,
    agent   TEXT NOT NULL,
    session TEXT NOT NULL,
    source  TEXT NOT NULL,
    call_id TEXT NOT NULL,
    read_at INTEGER NOT NULL,
    PRIMARY KEY (user, agent, session, source)
) STRICT;

-- Files written by sessions that had read untrusted content, so that reading them is reading it.
CREATE TABLE untrusted_files (
    path       TEXT PRIMARY KEY,       -- absolute
    source     TEXT NOT NULL,
    call_id    TEXT NOT NULL,
    written_at INTEGER NOT NULL
) STRICT;

CREATE INDEX grants_by_fingerprint ON grants (fingerprint) WHERE revoked_at IS NULL;
CREATE INDEX grants_by_scope ON grants (scope) WHERE revoked_at IS NULL;

-- Exactly the same call is a scope like any other.
UPDATE approvals SET scopes =
    CASE scopes WHEN '[]' THEN '["exact"]' ELSE '["exact",' || substr(scopes, 2) END;
