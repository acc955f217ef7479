-- Re-arms running tasks with their next payloads, and inserts the children of the re-armed tasks.
-- Safety rests on token and generation in the WHERE of the UPDATE, which is evaluated on the newest version of a row.
-- So only the latest claim can plan, and only once. The unique index of ids and the NOT EXISTS protect children: a
-- child that exists already, live or kept, is not changed. A kept record that has expired is deleted.
-- A task whose lease has ended may be parked. The index entry of such a task moves back to its slot.
-- The new generation is the time by the clock. If the clock has not passed the old generation, or is behind the floor,
-- the plan takes the general path.
WITH clock AS MATERIALIZED ({clock_and_floor}),
written AS (
  UPDATE foliot_task task SET
    state = {delayed},
    generation = clock.micros,
    wake_at = plan.due_at,
    due_at = plan.due_at,
    first_due_at = plan.due_at,
    part = plan.slot,
    changed_at = clock.millis,
    attempt = 0,
    settled_as = {end_rearmed},
    attempts = NULL,
    body = coalesce(plan.body, task.body),
    version = task.version + 1
  FROM clock, (
    SELECT wanted.*, {due_at} AS due_at
    FROM clock, unnest(?::uuid[], ?::uuid[], ?, ?, ?, ?, ?) WITH ORDINALITY AS wanted(
      id, token, generation, slot, due, relative, body, place
    )
  ) plan
  WHERE task.id = plan.id
    AND CASE WHEN task.state = {running} AND task.successor IS NULL AND NOT task.cancel_requested THEN true END
    AND task.token = plan.token AND task.generation = plan.generation AND task.generation < clock.micros
    AND clock.floor <= clock.micros
  RETURNING plan.place, task.due_at
),
inserted AS (
  INSERT INTO foliot_task (
    wake_at, due_at, first_due_at, created_at, changed_at, state, generation, queue,
    part,
    attempt, max_attempts, cancel_requested, outstanding, version, id, body
  )
  SELECT
    child.due_at, child.due_at, child.due_at, child.millis, child.millis, {delayed}, child.micros, child.queue,
    CASE WHEN child.parks AND child.due_at <= child.millis THEN {parked} + child.queue ELSE child.slot END,
    0, child.max_attempts, false, false, ?, child.id, child.body
  FROM (
    SELECT wanted.*, clock.micros, clock.millis, {due_at} AS due_at
    FROM clock, unnest(?::uuid[], ?, ?, ?, ?, ?, ?, ?, ?) AS wanted(
      id, queue, slot, due, relative, max_attempts, parks, body, parent
    )
  ) child
  WHERE child.parent = ANY (ARRAY(SELECT written.place FROM written))
    AND NOT EXISTS (SELECT FROM foliot_final kept WHERE kept.id = child.id AND kept.drop_at > child.millis)
  ON CONFLICT DO NOTHING
  RETURNING id
),
gone AS (
  DELETE FROM foliot_final kept USING inserted WHERE kept.id = inserted.id
)
SELECT clock.micros, written.place, written.due_at FROM clock LEFT JOIN written ON true
