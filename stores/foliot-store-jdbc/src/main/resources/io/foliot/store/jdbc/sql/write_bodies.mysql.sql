-- Replaces the bodies of tasks that this transaction has locked. An UPDATE of joined tables would write long values
-- to a temporary file. All ids exist, so no row is inserted, and the zeros for the other columns are never stored.
INSERT INTO foliot_task (
  id, body, wake_at, due_at, first_due_at, created_at, changed_at, generation, version, queue, part, attempt,
  max_attempts, state, cancel_requested, outstanding
) VALUES {rows}
ON DUPLICATE KEY UPDATE body = VALUES(body)
