-- A kept record, in the columns of live_columns.
record.id, record.queue, record.key, record.state, 0, 0::bigint, record.due_at, record.first_due_at,
record.created_at, record.changed_at, record.lease_end, record.claimed_at, record.generation, record.attempt,
record.max_attempts, record.token, record.settled_as, false, record.outstanding, 0::bigint,
NULL::bytea, record.attempts, {body}, record.reason, record.drop_at, record.begun_at, record.detail
