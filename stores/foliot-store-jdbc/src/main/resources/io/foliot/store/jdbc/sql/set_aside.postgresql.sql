-- Moves live rows that cannot be decoded to the kept rows, as FAILED and with their bytes. Kept rows have no column for
-- a successor, so the bytes of a successor follow those of the attempts. Safety rests on the version, as in
-- end.postgresql.sql.
WITH gone AS (
  DELETE FROM foliot_task task
  USING unnest(?::uuid[], ?, ?, ?) WITH ORDINALITY AS wanted(id, version, reason, kept, place)
  WHERE task.id = wanted.id AND task.version = wanted.version
  RETURNING wanted.place, wanted.reason, wanted.kept, task.*
),
kept AS (
  INSERT INTO foliot_final (
    id, queue, key, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
    max_attempts, token, settled_as, outstanding,
    attempts,
    reason, drop_at, begun_at, detail, body
  )
  SELECT
    gone.id, gone.queue, gone.key, {failed}, gone.due_at, gone.first_due_at, gone.created_at, clock.millis,
    gone.lease_end, gone.claimed_at, gone.generation, gone.attempt, gone.max_attempts, gone.token, NULL,
    gone.outstanding,
    CASE WHEN gone.successor IS NULL THEN gone.attempts ELSE coalesce(gone.attempts, '') || gone.successor END,
    gone.reason, clock.millis + gone.kept, {set_aside}, NULL, gone.body
  FROM gone
  CROSS JOIN (SELECT {clock_micros} / 1000 AS millis) clock
)
SELECT place FROM gone
