-- Inserts a few tasks without key and request: all of them or, if an id is known, none, by the primary key. Plain rows
-- are faster here than a table of parameters, which the server writes and reads first.
INSERT INTO foliot_task (
  id, queue, `key`, part, wake_at, due_at, first_due_at, created_at, changed_at, state,
  generation, attempt, max_attempts, cancel_requested, outstanding, version, body
) VALUES {rows}
RETURNING {inserted_columns}
