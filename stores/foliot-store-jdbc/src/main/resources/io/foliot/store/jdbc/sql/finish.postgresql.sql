-- Ends running tasks that succeeded and that have no successor.
-- Safety rests on token and generation in the WHERE of the DELETE, which is evaluated on the newest version of a row.
-- So only the latest claim can end its task, and the kept row is a copy of the deleted row.
-- If the clock has not passed the generation of a task, the task takes the general path, which raises the floor.
WITH clock AS MATERIALIZED ({clock}),
gone AS (
  DELETE FROM foliot_task task
  USING clock, unnest(?::uuid[], ?::uuid[], ?, ?, ?)
    WITH ORDINALITY AS wanted(id, token, generation, begun_at, detail, place)
  WHERE task.id = wanted.id AND CASE WHEN task.state = {running} AND task.successor IS NULL THEN true END
    AND task.token = wanted.token AND task.generation = wanted.generation AND task.generation < clock.micros
  RETURNING wanted.place, wanted.begun_at, wanted.detail, task.id, task.queue, task.key, task.due_at, task.first_due_at,
    task.created_at, task.lease_end, task.claimed_at, task.generation, task.attempt, task.max_attempts, task.token,
    task.outstanding, task.attempts, task.body
),
kept AS (
  INSERT INTO foliot_final (
    id, queue, key, state, due_at, first_due_at, created_at, changed_at, lease_end, claimed_at, generation, attempt,
    max_attempts, token, settled_as, outstanding, attempts, reason, drop_at, begun_at, detail, body
  )
  SELECT
    gone.id, gone.queue, gone.key, {finished}, gone.due_at, gone.first_due_at, gone.created_at, clock.millis,
    gone.lease_end, gone.claimed_at, gone.generation, gone.attempt, gone.max_attempts, gone.token, {end_finished},
    gone.outstanding, gone.attempts, '', clock.millis + coalesce(retention.millis, ?), gone.begun_at, gone.detail,
    gone.body
  FROM gone
  CROSS JOIN clock
  LEFT JOIN unnest(?, ?) AS retention(queue, millis) ON retention.queue = gone.queue
)
SELECT gone.place FROM gone
