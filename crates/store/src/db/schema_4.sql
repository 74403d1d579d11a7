-- Format 4 adds the users there are, and what a token is for.

CREATE TABLE users (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL,              -- for people
    role       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    removed_by TEXT,
    removed_at INTEGER                     -- what is theirs stays, and so does the row: the id is nobody else's
) STRICT;

-- Whoever has anything: else it would be given to whoever is added with the same id. Those who cannot come
-- any more are removed, and the owner may restore them.
INSERT INTO users (id, name, role, created_at, removed_by, removed_at)
WITH
    clock (now) AS (SELECT unixepoch() * 1000000),
    owned (user, since) AS (
        SELECT user, created_at FROM tokens
        UNION ALL SELECT user, created_at FROM sessions
        UNION ALL SELECT parent_user, created_at FROM sessions WHERE parent_user IS NOT NULL
        UNION ALL SELECT user, created_at FROM notes
        UNION ALL SELECT user, created_at FROM tasks
        UNION ALL SELECT user, changed_at FROM row_changes
        UNION ALL SELECT user, asked_at FROM approvals
        UNION ALL SELECT user, granted_at FROM grants
        UNION ALL SELECT user, changed_at FROM permissions
        UNION ALL SELECT user, read_at FROM sources
        UNION ALL SELECT user, now FROM speakers, clock
        UNION ALL SELECT owner, created_at FROM agents
    ),
    welcome (user) AS (
        SELECT user FROM tokens, clock
        WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now)
    )
SELECT
    user, user, 'member', min(since),
    iif(user IN welcome, NULL, 'owner'),
    iif(user IN welcome, NULL, now)
FROM owned, clock WHERE user NOT IN ('owner', '') GROUP BY user;

INSERT INTO users (id, name, role, created_at)
SELECT 'owner', 'owner', 'owner', coalesce(min(created_at), unixepoch() * 1000000)
FROM tokens WHERE user = 'owner';

ALTER TABLE tokens ADD COLUMN scopes TEXT; -- JSON; what is usual if absent

CREATE INDEX tokens_by_user ON tokens (user);
