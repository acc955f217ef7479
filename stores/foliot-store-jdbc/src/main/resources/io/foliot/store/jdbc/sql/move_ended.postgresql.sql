-- Moves tasks that have ended in place to the kept records. Safety rests on drop_at in the WHERE, which is evaluated on
-- the newest version of a row: a task that is live again has none. The kept row is a copy of the deleted row.
WITH gone AS (
  DELETE FROM foliot_task task
  USING unnest(?::uuid[]) AS wanted(id)
  WHERE task.id = wanted.id AND task.drop_at IS NOT NULL
  RETURNING task.*
)
INSERT INTO foliot_final (
  id, queue, key, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
  max_attempts, token, settled_as, outstanding, attempts, reason, drop_at, begun_at, detail, body
)
SELECT
  id, queue, key, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
  max_attempts, token, settled_as, outstanding, attempts, end_reason, drop_at, NULL, NULL, body
FROM gone
