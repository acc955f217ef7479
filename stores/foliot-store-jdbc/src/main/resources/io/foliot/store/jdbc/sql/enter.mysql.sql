-- Inserts live records: kept records that become live again (wanted.was is the generation of the kept record), and
-- records that are new to this store (wanted.was = 0). In the same transaction, drop_kept then deletes the kept
-- records.
-- Safety rests on the unique indexes (ON DUPLICATE KEY leaves an existing row unchanged). A kept record must
-- also have its expected generation, and no kept record of its key may have the new generation or a larger one.
-- wanted: all columns that update.mysql.sql sets, except for version; then body, id, queue, task_key, created_at, was.
INSERT INTO foliot_task (
  wake_at, due_at, first_due_at, changed_at, generation, lease_end, claimed_at, part, attempt, max_attempts, state,
  settled_as, cancel_requested, outstanding, token, successor, attempts, id, queue, `key`, created_at, version, body
)
WITH {wanted}
SELECT
  wanted.wake_at, wanted.due_at, wanted.first_due_at, wanted.changed_at, wanted.generation,
  NULLIF(wanted.lease_end, 0), NULLIF(wanted.claimed_at, 0), wanted.part, wanted.attempt, wanted.max_attempts,
  wanted.state, NULLIF(wanted.settled_as, {no_end}), wanted.cancel_requested, wanted.outstanding, wanted.token,
  {successor}, {attempts}, wanted.id, wanted.queue, wanted.task_key, wanted.created_at, {versions} + wanted.place - 1,
  COALESCE({body}, kept.body)
FROM wanted
LEFT JOIN foliot_final kept ON kept.id = wanted.id AND kept.generation = wanted.was
WHERE wanted.was = 0 OR (kept.id IS NOT NULL AND NOT EXISTS (
  SELECT 1 FROM foliot_final newer
  WHERE newer.queue = wanted.queue AND newer.`key` = wanted.task_key AND newer.generation >= wanted.generation
))
ON DUPLICATE KEY UPDATE version = foliot_task.version
