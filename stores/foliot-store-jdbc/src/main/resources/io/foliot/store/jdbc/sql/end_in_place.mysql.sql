-- Ends live records whose rows cannot move to the kept records, because the database has no room: the rows stay, with a
-- final state. The statement move_ended moves them later. Their index entries stay as well. Safety rests on the version
-- in the WHERE, which is evaluated on the locked row. The body of a task that ends does not change.
-- wanted: all columns that update.mysql.sql sets, except for version; then reason, drop_at, id, and the version that
-- the row must have.
UPDATE {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
SET
  task.due_at = wanted.due_at,
  task.first_due_at = wanted.first_due_at,
  task.changed_at = wanted.changed_at,
  task.generation = wanted.generation,
  task.lease_end = NULLIF(wanted.lease_end, 0),
  task.claimed_at = NULLIF(wanted.claimed_at, 0),
  task.attempt = wanted.attempt,
  task.max_attempts = wanted.max_attempts,
  task.state = wanted.state,
  task.settled_as = NULLIF(wanted.settled_as, {no_end}),
  task.cancel_requested = wanted.cancel_requested,
  task.outstanding = wanted.outstanding,
  task.token = wanted.token,
  task.successor = NULL,
  task.attempts = {attempts},
  task.end_reason = wanted.reason,
  task.drop_at = wanted.drop_at,
  task.version = {versions} + wanted.place - 1
WHERE task.version = wanted.version
