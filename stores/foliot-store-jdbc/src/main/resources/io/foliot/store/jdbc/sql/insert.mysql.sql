-- Inserts a task if no live task has its key or its id, and if its request has no stored answer. Safety rests on ON
-- DUPLICATE KEY with the unique indexes of id and of (queue, key): an existing row stays unchanged and keeps its
-- version. Inserted rows have versions of this call.
-- The generation of a row is read from the clock just before the row is inserted. So if a task with the same key ended
-- while the statement ran, the new generation is larger than the generation of that task. There are two exceptions,
-- which TaskSteps.ensureLast handles: the insert waited after the clock was read, or the clock was set back or has
-- stopped.
-- wanted: id, queue, task_key, slot, due, relative, max_attempts, body; with requests, also request.
INSERT INTO foliot_task (
  id, queue, `key`, part, wake_at, due_at, first_due_at, created_at, changed_at, state,
  generation, attempt, max_attempts, cancel_requested, outstanding, version, body
)
WITH {wanted}
SELECT
  wanted.id, wanted.queue, wanted.task_key, wanted.slot, {due_at}, {due_at}, {due_at}, clock.millis, clock.millis,
  {delayed}, GREATEST(clock.floor, {seen_micros}, {row_clock_micros}), 0, wanted.max_attempts, 0, 0,
  {versions} + wanted.place, {body}
FROM ({clock}) clock
CROSS JOIN wanted
-- Without this condition, the ON of ON DUPLICATE KEY would belong to the join.
WHERE TRUE
{requests?} AND (wanted.request IS NULL OR NOT EXISTS (
{requests?}   SELECT 1 FROM foliot_request answer
{requests?}   WHERE answer.queue = wanted.queue AND answer.`key` = COALESCE(wanted.task_key, '')
{requests?}     AND answer.request = wanted.request
{requests?} ))
ON DUPLICATE KEY UPDATE version = foliot_task.version
{returning?} RETURNING {inserted_columns}
