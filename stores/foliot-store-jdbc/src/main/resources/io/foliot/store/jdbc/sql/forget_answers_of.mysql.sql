-- Deletes the answers to these requests if they have expired. wanted: queue, task_key, request.
DELETE answer FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_request answer
  ON answer.queue = wanted.queue AND answer.`key` = wanted.task_key AND answer.request = wanted.request
WHERE answer.drop_at <= {clock_micros} DIV 1000
