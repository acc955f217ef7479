-- Copies live records that have ended to the kept records. The statement rows_of_version has locked these records. In
-- the same transaction, drop_live then deletes the live rows.
-- wanted: all columns that update.mysql.sql sets, except for version; then reason, drop_at, body, id.
INSERT INTO foliot_final (
  id, queue, `key`, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
  max_attempts, token, settled_as, outstanding, attempts, reason, drop_at, begun_at, detail, body
)
WITH {wanted}
SELECT
  task.id, task.queue, task.`key`, wanted.state, wanted.due_at, wanted.first_due_at, task.created_at,
  wanted.changed_at, NULLIF(wanted.lease_end, 0), NULLIF(wanted.claimed_at, 0), wanted.generation, wanted.attempt,
  wanted.max_attempts, wanted.token, NULLIF(wanted.settled_as, {no_end}), wanted.outstanding, wanted.attempts,
  wanted.reason, wanted.drop_at, NULL, NULL, COALESCE({body}, task.body)
FROM wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
