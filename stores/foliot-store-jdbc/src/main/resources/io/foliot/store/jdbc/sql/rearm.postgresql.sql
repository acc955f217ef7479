-- Writes live records, and inserts the children of the written records, in one statement.
-- The version of a parent protects it from a change that is based on an old read. The unique index of ids protects a
-- child that exists already: it is not changed. The caller has found no kept record of a child, except expired ones.
-- These are deleted when the child is inserted.
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
    child.queue, child.part, 0, child.max_attempts, false, false, ?, child.id, child.body
  FROM unnest(?, ?, ?, ?, ?, ?, ?::uuid[], ?, ?) AS child(
    due_at, created_at, generation, queue, part, max_attempts, id, body, parent
  )
  WHERE child.parent IN (SELECT place FROM written)
  ON CONFLICT DO NOTHING
  RETURNING id
),
gone AS (
  DELETE FROM foliot_final kept USING inserted WHERE kept.id = inserted.id
)
SELECT place FROM written
