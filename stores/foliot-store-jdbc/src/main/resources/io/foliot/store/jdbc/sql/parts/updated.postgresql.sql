-- Writes live records, and returns the places of the written records.
-- Safety rests on the version in the WHERE. The WHERE is evaluated on the newest version of a row, so a row that has
-- changed since it was read is not written.
UPDATE foliot_task task SET
  wake_at = wanted.wake_at,
  due_at = wanted.due_at,
  first_due_at = wanted.first_due_at,
  changed_at = wanted.changed_at,
  generation = wanted.generation,
  version = task.version + 1,
  lease_end = nullif(wanted.lease_end, 0),
  claimed_at = nullif(wanted.claimed_at, 0),
  part = wanted.part,
  attempt = wanted.attempt,
  max_attempts = wanted.max_attempts,
  state = wanted.state,
  settled_as = nullif(wanted.settled_as, {no_end}),
  cancel_requested = wanted.cancel_requested,
  outstanding = wanted.outstanding,
  token = wanted.token,
  successor = wanted.successor,
  attempts = wanted.attempts,
  drop_at = NULL,
  end_reason = NULL,
  body = coalesce(wanted.body, task.body)
FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?::uuid[], ?) WITH ORDINALITY AS wanted(
  wake_at, due_at, first_due_at, changed_at, generation, lease_end, claimed_at, part, attempt, max_attempts, state,
  settled_as, cancel_requested, outstanding, token, successor, attempts, body, id, version, place
)
WHERE task.id = wanted.id AND task.version = wanted.version
RETURNING wanted.place
