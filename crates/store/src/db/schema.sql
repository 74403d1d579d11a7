-- Everything but the journal. Times are microseconds since 1970.

CREATE TABLE approvals (
    id          TEXT PRIMARY KEY,
    call_id     TEXT NOT NULL,
    user        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    session     TEXT NOT NULL,
    tool        TEXT NOT NULL,
    input       TEXT NOT NULL,           -- JSON
    plan        TEXT NOT NULL,           -- JSON
    effects     TEXT NOT NULL,           -- JSON
    place       TEXT,
    reason      TEXT NOT NULL,
    rule        TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    scopes      TEXT NOT NULL,           -- JSON
    asked_at    INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    status      TEXT NOT NULL DEFAULT 'pending',
    decision    TEXT,
    answered_by TEXT,
    answered_at INTEGER,
    message     TEXT
) STRICT;

CREATE INDEX approvals_pending ON approvals (user, agent, session) WHERE status = 'pending';
CREATE INDEX approvals_by_time ON approvals (asked_at);

-- What an approval is remembered for; it has the id of the approval.
CREATE TABLE grants (
    id          TEXT PRIMARY KEY REFERENCES approvals (id),
    user        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    session     TEXT,                    -- every session if absent
    tool        TEXT NOT NULL,
    rule        TEXT NOT NULL,           -- what was asked about
    fingerprint TEXT NOT NULL,
    scope       TEXT,                    -- the exact call if absent
    granted_by  TEXT NOT NULL,
    granted_at  INTEGER NOT NULL,
    expires_at  INTEGER,
    revoked_by  TEXT,
    revoked_at  INTEGER
) STRICT;

CREATE INDEX grants_by_rule ON grants (user, agent, rule) WHERE revoked_at IS NULL;

-- Every change of a permission; the newest counts.
CREATE TABLE permissions (
    id         INTEGER PRIMARY KEY,
    user       TEXT NOT NULL,
    agent      TEXT NOT NULL,
    capability TEXT NOT NULL,
    state      TEXT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;

CREATE INDEX permissions_by_agent ON permissions (user, agent, capability);
