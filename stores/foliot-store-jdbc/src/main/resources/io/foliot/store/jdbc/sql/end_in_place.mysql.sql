-- Ends live records whose rows cannot move to the kept records, because the database has no room: the rows stay, with a
-- final state. The statement move_ended moves them later. Their index entries stay as well. Safety rests on the version
-- in the WHERE, which is evaluated on the locked row. The body of a task that ends does not change.
-- wanted: all columns that update.mysql.sql sets, except for version; then reason, drop_at, id, and the version that
-- the row must have.
UPDATE {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
SET
  {changed_columns},
  task.successor = NULL,
  task.attempts = {attempts},
  task.end_reason = wanted.reason,
  task.drop_at = wanted.drop_at,
  task.version = {versions} + wanted.place - 1
WHERE task.version = wanted.version
