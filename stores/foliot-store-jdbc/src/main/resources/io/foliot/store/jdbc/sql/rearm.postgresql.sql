-- Writes live records, and inserts the children of those that were written, in one statement.
-- Safety rests on the version of each parent, and for a child on the unique index of its id: a child that exists
-- already stays as it is.
WITH written AS (
{updated}
),
inserted AS (
  INSERT INTO foliot_task (
    wake_at, due_at, first_due_at, created_at, changed_at, state, generation, queue, part, attempt, max_attempts,
    cancel_requested, outstanding, version, id, body
  )
  SELECT
    child.due_at, child.due_at, child.due_at, child.created_at, child.created_at, {delayed}, child.generation,
    child.queue, child.part, 0, child.max_attempts, false, false, 1, child.id, child.body
  FROM unnest(?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?) AS child(
    due_at, created_at, generation, queue, part, max_attempts, id, body, parent
  )
  WHERE child.parent IN (SELECT place FROM written)
  ON CONFLICT DO NOTHING
)
SELECT place FROM written
