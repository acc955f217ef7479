-- Copies running tasks to the kept records if they succeeded and have no successor. In the same transaction, drop_live
-- then deletes the live rows.
-- Safety rests on token and generation in the WHERE, which is evaluated on the rows that FOR UPDATE locks. So only the
-- latest claim can end its task, and no other statement changes the task until it is deleted.
-- If the clock has not passed the generation of a task, the task takes the general path, which raises the floor.
-- wanted: id, token, generation, begun_at, detail.
INSERT INTO foliot_final (
  id, queue, `key`, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
  max_attempts, token, settled_as, outstanding, attempts, reason, drop_at, begun_at, detail, body
)
SELECT
  task.id, task.queue, task.`key`, {finished}, task.due_at, task.first_due_at, task.created_at, clock.millis,
  task.lease_end, task.claimed_at, task.generation, task.attempt, task.max_attempts, task.token, {end_finished},
  task.outstanding, task.attempts, '', clock.millis + {retention}, wanted.begun_at, wanted.detail, task.body
FROM ({clock}) clock
STRAIGHT_JOIN {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE task.state = {running} AND task.token = wanted.token
  AND task.generation = wanted.generation AND task.successor IS NULL AND task.generation < clock.micros
FOR UPDATE
