-- Copies tasks that have ended in place to the kept records. The statement lock_ended has locked their rows.
INSERT INTO foliot_final (
  id, queue, `key`, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
  max_attempts, token, settled_as, outstanding, attempts, reason, drop_at, begun_at, detail, body
)
SELECT
  id, queue, `key`, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
  max_attempts, token, settled_as, outstanding, attempts, end_reason, drop_at, NULL, NULL, body
FROM foliot_task
WHERE id IN ({ids})
