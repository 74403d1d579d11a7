-- A call that is recorded when it is over has one record, of the kind `call`, with all that an intent and an outcome say.
-- Its `time` is when it started; it finished when it was recorded.
DROP INDEX records_by_user;
CREATE INDEX records_by_user ON records (user) WHERE kind IN ('intent', 'call') AND user <> 'owner';

DROP VIEW tool_calls;
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
    CASE o.kind WHEN 'call' THEN o.at ELSE o.time END AS finished_us
FROM records AS i
-- Should there be two outcomes, the first is the one the caller heard.
LEFT JOIN records AS o ON o.seq = CASE i.kind
    WHEN 'call' THEN i.seq
    ELSE (SELECT min(seq) FROM records WHERE call_id = i.call_id AND kind = 'outcome')
END
WHERE i.kind IN ('intent', 'call');
