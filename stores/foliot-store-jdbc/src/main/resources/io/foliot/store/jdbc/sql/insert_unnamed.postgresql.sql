-- Inserts tasks without a key and without an idempotency key: all tasks, or none if a live task has one of the ids.
-- Only the generations of tasks with the same key have to grow, so one reading of the clock gives all generations here.
WITH clock AS MATERIALIZED ({clock_and_floor}),
inserted AS (
  INSERT INTO foliot_task (
    id, queue, key, part, wake_at, due_at, first_due_at, created_at, changed_at, state,
    generation, attempt, max_attempts, cancel_requested, outstanding, version, body
  )
  SELECT
    draft.id, draft.queue, NULL, draft.slot, draft.due_at, draft.due_at, draft.due_at, draft.millis, draft.millis,
    {delayed}, draft.generation, 0, draft.max_attempts, false, false, ?, draft.body
  FROM (
    SELECT wanted.*, clock.millis, greatest(clock.floor, clock.micros) AS generation, {due_at} AS due_at
    FROM clock, unnest(?::uuid[], ?, ?, ?, ?, ?, ?)
      AS wanted(id, queue, slot, due, relative, max_attempts, body)
  ) draft
)
SELECT clock.micros, greatest(clock.floor, clock.micros) FROM clock
