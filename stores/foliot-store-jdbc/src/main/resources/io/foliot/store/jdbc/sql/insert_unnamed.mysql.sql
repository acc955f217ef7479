-- Inserts a few tasks without a key and without an idempotency key: all tasks, or none if a live task has one of the
-- ids. Plain rows are faster here than a table of parameters, which the server would first write and then read.
INSERT INTO foliot_task (
  id, queue, `key`, part, wake_at, due_at, first_due_at, created_at, changed_at, state,
  generation, attempt, max_attempts, cancel_requested, outstanding, version, body
) VALUES {rows}
RETURNING {inserted_columns}
