-- Gives the stored answers to the requests that inserted tasks the new generation of these tasks.
-- wanted: id, queue, task_key, request.
UPDATE {wanted_rows} wanted
STRAIGHT_JOIN foliot_request answer
  ON answer.queue = wanted.queue AND answer.`key` = COALESCE(wanted.task_key, '') AND answer.request = wanted.request
SET answer.generation = {generation}
WHERE answer.id = wanted.id
