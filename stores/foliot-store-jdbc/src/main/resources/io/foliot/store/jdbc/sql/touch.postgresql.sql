-- Pushes back waiting tasks by key; with resets, also replaces their bodies and maximum numbers of attempts.
-- Safety rests on the WHERE, which is evaluated on the newest version of a row. The WHERE requires that the task waits,
-- and that its index entry is not later than the new deadline. So no claim is overwritten, and the index entry is never
-- late. The generation grows even if the clock was set back.
-- The index entry moves only if it is in the first five eighths of the interval from now to the new deadline (as in
-- TaskLife). A touch that does not move the index entry changes no indexed column.
WITH clock AS MATERIALIZED ({clock_and_floor}),
pushed AS (
  UPDATE foliot_task task SET
    wake_at = CASE
      WHEN task.part >= {parked} OR {pushed_due_at} <= clock.millis THEN task.wake_at
      WHEN task.wake_at <= clock.millis + ({pushed_due_at} - clock.millis) / 8 * 5 THEN {pushed_due_at}
      ELSE task.wake_at
    END,
    due_at = {pushed_due_at},
    generation = greatest(task.generation + 1, clock.micros, clock.floor),
    {resets?} body = coalesce(push.body, task.body),
    {resets?} max_attempts = coalesce(nullif(push.max_attempts, 0), task.max_attempts),
    attempt = 0,
    version = task.version + 1
  FROM clock, (
    SELECT wanted.*, {due_at} AS due_at
    FROM clock, unnest(
      ?, ?, ?, ?, ?
      {resets?} , ?, ?
    ) WITH ORDINALITY AS wanted(
      queue, key, due, relative, max_wait,
      {resets?} body, max_attempts,
      place
    )
  ) push
  WHERE task.queue = push.queue AND task.key = push.key AND CASE WHEN task.state = {delayed} THEN true END
    AND {pushed_due_at} >= task.wake_at
  RETURNING push.place, task.id, task.generation, task.due_at, task.outstanding
)
SELECT clock.micros, pushed.* FROM clock LEFT JOIN pushed ON true
