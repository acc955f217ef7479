-- Moves live records that have ended to the kept records. Safety rests on the version in the WHERE of the DELETE. The
-- WHERE is evaluated on the newest version of a row, so a row that has changed since it was read stays live.
WITH gone AS (
  DELETE FROM foliot_task task
  USING unnest(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?, ?, ?::uuid[], ?) WITH ORDINALITY AS wanted(
    due_at, first_due_at, changed_at, generation, drop_at, lease_end, claimed_at, attempt, max_attempts, state,
    settled_as, outstanding, token, reason, attempts, body, id, version, place
  )
  WHERE task.id = wanted.id AND task.version = wanted.version
  RETURNING wanted.*, task.queue, task.key, task.created_at, task.body AS old_body
),
kept AS (
  INSERT INTO foliot_final (
    id, queue, key, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
    max_attempts, token, settled_as, outstanding, attempts, reason, drop_at, begun_at, detail, body
  )
  SELECT
    gone.id, gone.queue, gone.key, gone.state, gone.due_at, gone.first_due_at, gone.created_at, gone.changed_at,
    nullif(gone.lease_end, 0), nullif(gone.claimed_at, 0), gone.generation, gone.attempt,
    gone.max_attempts, gone.token, nullif(gone.settled_as, {no_end}), gone.outstanding, gone.attempts, gone.reason,
    gone.drop_at, NULL, NULL, coalesce(gone.body, gone.old_body)
  FROM gone
)
SELECT place FROM gone
