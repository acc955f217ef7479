-- A live record, in the columns that class Rows reads: they are the same for both dialects, and for live and kept
-- records. No column is read as NULL: an absent value is empty, 0 or NO_END.
record.id, record.queue, COALESCE(record.`key`, ''), record.state, record.part, record.wake_at, record.due_at,
record.first_due_at, record.created_at, record.changed_at, COALESCE(record.lease_end, 0),
COALESCE(record.claimed_at, 0), record.generation, record.attempt, record.max_attempts, COALESCE(record.token, ''),
COALESCE(record.settled_as, {no_end}), record.cancel_requested, record.outstanding, record.version,
COALESCE(record.successor, ''), COALESCE(record.attempts, ''), {body}, COALESCE(record.end_reason, '') AS reason,
COALESCE(record.drop_at, 0) AS drop_at, 0 AS begun_at, '' AS detail
