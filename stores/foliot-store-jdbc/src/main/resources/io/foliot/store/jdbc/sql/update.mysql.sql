-- Writes live records. The statement write_bodies writes the bodies of the records. The statement remember stores the
-- answers that depend on the records.
-- Safety rests on the version in the WHERE. The WHERE is evaluated on the locked row, so a row that has changed since
-- it was read is not written.
-- wanted: all columns that are set, except for version; then id, and the version that the row must have.
UPDATE {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
SET
  task.wake_at = wanted.wake_at,
  task.part = wanted.part,
  {changed_columns},
  task.successor = {successor},
  task.attempts = {attempts},
  task.drop_at = NULL,
  task.end_reason = NULL,
  task.version = {versions} + wanted.place - 1
WHERE task.version = wanted.version
