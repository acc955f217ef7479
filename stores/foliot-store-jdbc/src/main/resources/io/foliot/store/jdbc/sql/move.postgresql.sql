-- Moves index entries to the deadlines of their tasks, if the tasks wait and are not due. Skips rows that another
-- statement is changing (SKIP LOCKED). Usually, that statement touches the task, and then there may be nothing to move.
-- Without SKIP LOCKED, a batch of moves and a batch of touches could deadlock.
WITH clock AS MATERIALIZED ({clock}),
locked AS MATERIALIZED (
  SELECT wanted.place, wanted.slot, task.id
  FROM clock, unnest(?::uuid[], ?) WITH ORDINALITY AS wanted(id, slot, place)
  JOIN foliot_task task ON task.id = wanted.id
  WHERE CASE WHEN task.state = {delayed} AND {known_version} THEN true END
    AND task.due_at > clock.millis AND (task.wake_at <> task.due_at OR task.part <> wanted.slot)
  FOR NO KEY UPDATE OF task SKIP LOCKED
),
moved AS (
  UPDATE foliot_task task SET
    wake_at = task.due_at,
    part = locked.slot,
    version = task.version + 1
  FROM locked
  WHERE task.id = locked.id
  RETURNING locked.place, task.due_at
)
SELECT clock.micros, moved.* FROM clock LEFT JOIN moved ON true
