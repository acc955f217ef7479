-- Claims waiting tasks that are due, and moves the index entries of waiting tasks that are not due.
-- Safety rests on state = delayed in the WHERE. The WHERE is evaluated on the newest version of a row, so the second of
-- two claims finds the task running. A claim that is too late (until), or that is only a move (lease = 0), does not
-- change a due task.
WITH clock AS MATERIALIZED ({clock}),
claimed AS (
  UPDATE foliot_task task SET
    state = CASE WHEN task.due_at <= clock.millis THEN {running} ELSE {delayed} END,
    attempt = CASE WHEN task.due_at <= clock.millis THEN task.attempt + 1 ELSE task.attempt END,
    token = CASE WHEN task.due_at <= clock.millis THEN wanted.token ELSE task.token END,
    settled_as = CASE WHEN task.due_at <= clock.millis THEN NULL ELSE task.settled_as END,
    claimed_at = CASE WHEN task.due_at <= clock.millis THEN clock.millis ELSE task.claimed_at END,
    changed_at = CASE WHEN task.due_at <= clock.millis THEN clock.millis ELSE task.changed_at END,
    lease_end = CASE WHEN task.due_at <= clock.millis THEN clock.millis + wanted.lease ELSE task.lease_end END,
    wake_at = CASE WHEN task.due_at <= clock.millis THEN clock.millis + wanted.lease ELSE task.due_at END,
    part = wanted.slot,
    version = task.version + 1
  FROM clock, unnest(?::uuid[], ?::uuid[], ?, ?, ?)
    WITH ORDINALITY AS wanted(id, token, lease, until, slot, place)
  WHERE task.id = wanted.id AND CASE WHEN task.state = {delayed} AND {known_version} THEN true END
    AND (task.due_at <= clock.millis AND wanted.lease > 0 AND clock.millis <= wanted.until
      OR task.due_at > clock.millis AND (task.wake_at <> task.due_at OR task.part <> wanted.slot))
  RETURNING wanted.place, task.state, task.queue, task.key, task.due_at, task.lease_end, task.first_due_at,
    task.created_at, task.generation, task.attempt, task.max_attempts, task.outstanding, task.attempts,
    CASE WHEN task.state = {running} THEN task.body END AS body
)
SELECT clock.micros, claimed.* FROM clock LEFT JOIN claimed ON true
