-- Format 4 adds the users there are, and what a token is for.

CREATE TABLE users (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,              -- for people
    role       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    removed_by TEXT,
    removed_at INTEGER                     -- what is theirs stays, and so does the row: the id is nobody else's
) STRICT;

INSERT INTO users (id, name, role, created_at)
SELECT user, user, 'member', min(created_at) FROM tokens WHERE user <> 'owner' GROUP BY user;

INSERT INTO users (id, name, role, created_at)
SELECT 'owner', 'owner', 'owner', coalesce(min(created_at), unixepoch() * 1000000)
FROM tokens WHERE user = 'owner';

ALTER TABLE tokens ADD COLUMN scopes TEXT; -- JSON; what is usual if absent

CREATE INDEX tokens_by_user ON tokens (user);
