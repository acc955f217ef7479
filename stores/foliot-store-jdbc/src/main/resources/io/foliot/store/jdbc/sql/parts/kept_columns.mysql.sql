-- A kept record, in the columns of live_columns.
record.id, record.queue, COALESCE(record.`key`, ''), record.state, 0, 0, record.due_at, record.first_due_at,
record.created_at, record.changed_at, COALESCE(record.lease_end, 0), COALESCE(record.claimed_at, 0),
record.generation, record.attempt, record.max_attempts, COALESCE(record.token, ''),
COALESCE(record.settled_as, {no_end}), 0, record.outstanding, 0, '', COALESCE(record.attempts, ''), {body},
record.reason, record.drop_at, COALESCE(record.begun_at, 0), COALESCE(record.detail, '')
