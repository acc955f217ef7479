-- Gives delayed tasks a new generation, if they still have the generation of their insert. Changes the stored answers
-- to the requests that inserted these tasks as well.
WITH regenerated AS (
  UPDATE foliot_task task SET
    generation = ?,
    version = task.version + 1
  FROM unnest(?::uuid[], ?, ?, ?, ?) WITH ORDINALITY AS wanted(id, generation, queue, key, request, place)
  WHERE task.id = wanted.id AND task.generation = wanted.generation AND task.state = {delayed}
  RETURNING wanted.*, task.generation AS latest
),
answered AS (
  UPDATE foliot_request answer SET generation = regenerated.latest
  FROM regenerated
  WHERE answer.queue = regenerated.queue AND answer.key = coalesce(regenerated.key, '')
    AND answer.request = regenerated.request AND answer.id = regenerated.id
)
SELECT place FROM regenerated
