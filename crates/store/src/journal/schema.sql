-- The journal. Records are only ever added; a payload can be erased, its digest stays.
-- One table and one index for every record: each more would cost as much again for each of them.

CREATE TABLE records (
    seq              INTEGER PRIMARY KEY,  -- position in the file, without gaps
    n                INTEGER NOT NULL,     -- position in the chain of its writer
    at               INTEGER NOT NULL,     -- when it was recorded, microseconds since 1970
    time             INTEGER NOT NULL,     -- intent: started; outcome: finished; erasure: everything before
    duration_ms      INTEGER,
    payload          BLOB NOT NULL,        -- SHA-256 of content
    prev             BLOB NOT NULL,        -- hash of the record before it in its chain; of the first: above
    above            BLOB NOT NULL,        -- hash of the record before it in the file
    hash             BLOB NOT NULL,        -- SHA-256 of all other columns but content
    writer           TEXT NOT NULL,
    kind             TEXT NOT NULL,        -- intent, change, outcome; erasure
    call_id          TEXT NOT NULL,
    tool             TEXT NOT NULL,
    user             TEXT NOT NULL,
    agent            TEXT NOT NULL,
    session          TEXT NOT NULL,
    sender           TEXT NOT NULL,
    channel          TEXT NOT NULL,
    provider         TEXT NOT NULL,
    role             TEXT NOT NULL,
    message_id       TEXT NOT NULL,
    provider_call_id TEXT NOT NULL,
    effects          TEXT NOT NULL,
    decision         TEXT NOT NULL,
    rule             TEXT NOT NULL,
    status           TEXT NOT NULL,
    error_type       TEXT NOT NULL,
    approval         TEXT NOT NULL,
    place            TEXT NOT NULL,
    answered_by      TEXT NOT NULL,
    content          TEXT                  -- what may be private or large, as JSON; NULL once erased
) STRICT;

CREATE INDEX records_by_call ON records (call_id);

-- Written after each checkpoint of the write-ahead log; see upkeep.rs.
CREATE TABLE upkeep (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    checkpoints INTEGER NOT NULL
) STRICT;

INSERT INTO upkeep VALUES (1, 0);

-- One row per call: what its records say together.
CREATE VIEW tool_calls AS
SELECT
    i.call_id AS id,
    nullif(i.message_id, '') AS message_id,
    i.user AS user_id,
    i.tool AS tool_name,
    i.content -> '$.input' AS input,
    o.content -> '$.output' AS output,
    CASE
        WHEN o.seq IS NULL THEN 'running'
        WHEN o.error_type = 'interrupted' THEN 'interrupted'
        ELSE o.status
    END AS status,
    o.duration_ms AS execution_time_ms,
    strftime('%Y-%m-%dT%H:%M:%fZ', i.at / 1000000.0, 'unixepoch') AS created_at,
    i.agent AS agent,
    i.session AS session,
    nullif(i.sender, '') AS sender,
    nullif(i.channel, '') AS channel,
    nullif(i.provider, '') AS provider,
    i.role AS role,
    nullif(i.provider_call_id, '') AS provider_call_id,
    i.content -> '$.plan' AS plan,
    coalesce(nullif(o.effects, '[]'), i.effects) AS effects,
    coalesce(nullif(o.decision, ''), i.decision) AS decision,
    coalesce(nullif(o.rule, ''), i.rule) AS rule,
    i.content ->> '$.reason' AS reason,
    nullif(o.approval, '') AS approval,
    nullif(o.place, '') AS place,
    nullif(o.error_type, '') AS error_type,
    o.content -> '$.message' AS message,
    o.content -> '$.detail' AS detail,
    o.content -> '$.changed' AS changed,
    nullif(o.answered_by, '') AS answered_by,
    i.seq AS seq,
    i.writer AS writer,
    i.at AS created_us,
    i.time AS started_us,
    o.time AS finished_us
FROM records AS i
-- Should there be two outcomes, the first is the one the caller heard.
LEFT JOIN records AS o
    ON o.seq = (SELECT min(seq) FROM records WHERE call_id = i.call_id AND kind = 'outcome')
WHERE i.kind = 'intent';
