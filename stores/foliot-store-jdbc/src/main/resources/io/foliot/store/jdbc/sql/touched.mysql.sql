-- Reads the results of touches, in the transaction of the touches. The place is 0 for a row that was not touched. Such
-- a row does not have the version that this call gives to a touched row.
-- wanted: queue, task_key.
SELECT
  clock.micros, CASE WHEN task.version = {versions} + wanted.place - 1 THEN wanted.place ELSE 0 END,
  task.id, task.generation, task.due_at, task.outstanding
FROM ({clock}) clock
STRAIGHT_JOIN {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.queue = wanted.queue AND task.`key` = wanted.task_key
