-- A live record, in the columns that class Rows reads: they are the same for both dialects, and for live and kept
-- records.
record.id, record.queue, record.key, record.state, record.part, record.wake_at, record.due_at, record.first_due_at,
record.created_at, record.changed_at, record.lease_end, record.claimed_at, record.generation, record.attempt,
record.max_attempts, record.token, record.settled_as, record.cancel_requested, record.outstanding, record.version,
record.successor, record.attempts, {body}, record.end_reason, coalesce(record.drop_at, 0), 0::bigint,
NULL::text
