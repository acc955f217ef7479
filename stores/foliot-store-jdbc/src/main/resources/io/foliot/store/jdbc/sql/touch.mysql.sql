-- Pushes back waiting tasks by key; with resets, also replaces their maximum numbers of attempts. The statement
-- write_bodies replaces their bodies.
-- Safety rests on the WHERE, which is evaluated on the locked row. The WHERE requires that the task waits, and that its
-- index entry is not later than the new deadline. So no claim is overwritten, and the index entry is never late. The
-- generation grows even if the clock was set back.
-- The index entry moves only if it is in the first five eighths of the interval from now to the new deadline (as in
-- TaskLife). A touch that does not move the index entry changes no indexed column.
-- wanted: queue, task_key, due, relative, max_wait; with resets: max_attempts.
UPDATE ({clock}) clock
STRAIGHT_JOIN {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.queue = wanted.queue AND task.`key` = wanted.task_key
SET
  task.wake_at = CASE
    WHEN task.part >= {parked} OR {pushed_due_at} <= clock.millis THEN task.wake_at
    WHEN task.wake_at <= clock.millis + ({pushed_due_at} - clock.millis) DIV 8 * 5 THEN {pushed_due_at}
    ELSE task.wake_at
  END,
  task.due_at = {pushed_due_at},
  task.generation = GREATEST(task.generation + 1, clock.micros, clock.floor, {seen_micros}),
  task.attempt = 0,
  {resets?} task.max_attempts = COALESCE(NULLIF(wanted.max_attempts, 0), task.max_attempts),
  task.version = {versions} + wanted.place - 1
WHERE task.state = {delayed} AND {pushed_due_at} >= task.wake_at
