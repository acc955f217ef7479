-- Stores answers to requests. If another call has stored an answer to one of the requests since the read, the primary
-- key makes the statement and its transaction fail.
-- wanted: queue, task_key, request, digest, kind, id, generation, due_at, state, drop_at.
INSERT INTO foliot_request (queue, `key`, request, digest, kind, id, generation, due_at, state, drop_at)
WITH {wanted}
SELECT queue, task_key, request, digest, kind, id, generation, due_at, state, drop_at
FROM wanted
