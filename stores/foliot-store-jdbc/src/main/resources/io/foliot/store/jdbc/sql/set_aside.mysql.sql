-- Copies live rows that cannot be decoded to the kept rows, as FAILED and with their bytes. The statement
-- rows_of_version has locked these rows. Kept rows have no column for a successor, so the bytes of a successor follow
-- those of the attempts. In the same transaction, drop_live then deletes the live rows.
-- wanted: id, reason, kept (the retention in milliseconds).
INSERT INTO foliot_final (
  id, queue, `key`, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
  max_attempts, token, settled_as, outstanding,
  attempts,
  reason, drop_at, begun_at, detail, body
)
WITH {wanted}
SELECT
  task.id, task.queue, task.`key`, {failed}, task.due_at, task.first_due_at, task.created_at, clock.millis,
  task.lease_end, task.claimed_at, task.generation, task.attempt, task.max_attempts, task.token, NULL,
  task.outstanding,
  CASE WHEN task.successor IS NULL THEN task.attempts ELSE CONCAT(COALESCE(task.attempts, ''), task.successor) END,
  wanted.reason, clock.millis + wanted.kept, {set_aside}, NULL, task.body
FROM ({clock}) clock
CROSS JOIN wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
