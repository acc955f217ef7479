-- Reads the answers to requests. wanted: queue, task_key, request.
SELECT
  wanted.place, answer.digest, answer.kind, answer.id, answer.generation, answer.due_at, answer.state, answer.drop_at
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_request answer
  ON answer.queue = wanted.queue AND answer.`key` = wanted.task_key AND answer.request = wanted.request
{locking?} LOCK IN SHARE MODE
