-- Gives delayed tasks a new generation, if they still have the generation of their insert.
-- wanted: id, generation.
UPDATE {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
SET
  task.generation = {generation},
  task.version = {versions} + wanted.place - 1
WHERE task.generation = wanted.generation AND task.state = {delayed}
