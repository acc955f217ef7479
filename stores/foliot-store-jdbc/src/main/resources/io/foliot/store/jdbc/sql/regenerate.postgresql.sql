-- Gives delayed tasks a new generation, if they still have the generation of their insert.
UPDATE foliot_task task SET
  generation = ?,
  version = task.version + 1
FROM unnest(?::uuid[], ?) WITH ORDINALITY AS wanted(id, generation, place)
WHERE task.id = wanted.id AND task.generation = wanted.generation AND task.state = {delayed}
RETURNING wanted.place
