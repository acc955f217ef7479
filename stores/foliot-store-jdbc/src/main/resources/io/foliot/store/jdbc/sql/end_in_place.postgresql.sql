-- Ends live records whose rows cannot move to the kept records, because the database has no room: the rows stay, with a
-- final state. The statement move_ended moves them later. Their index entries stay as well, so that the update changes
-- no indexed column. Safety rests on the version, as in end.postgresql.sql.
UPDATE foliot_task task SET
  due_at = wanted.due_at,
  first_due_at = wanted.first_due_at,
  changed_at = wanted.changed_at,
  generation = wanted.generation,
  version = task.version + 1,
  drop_at = wanted.drop_at,
  lease_end = nullif(wanted.lease_end, 0),
  claimed_at = nullif(wanted.claimed_at, 0),
  attempt = wanted.attempt,
  max_attempts = wanted.max_attempts,
  state = wanted.state,
  settled_as = nullif(wanted.settled_as, {no_end}),
  cancel_requested = false,
  outstanding = wanted.outstanding,
  token = wanted.token,
  end_reason = wanted.reason,
  successor = NULL,
  attempts = wanted.attempts,
  body = coalesce(wanted.body, task.body)
FROM unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?::uuid[], ?) WITH ORDINALITY AS wanted(
  due_at, first_due_at, changed_at, generation, drop_at, lease_end, claimed_at, attempt, max_attempts, state,
  settled_as, outstanding, token, reason, attempts, body, id, version, place
)
WHERE task.id = wanted.id AND task.version = wanted.version
RETURNING wanted.place
