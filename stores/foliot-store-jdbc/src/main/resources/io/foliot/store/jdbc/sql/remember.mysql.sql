-- Stores answers to requests. A request that has got an answer meanwhile fails the statement, and its transaction, by
-- the primary key.
-- wanted: queue, task_key, request, digest, kind, id, generation, due_at, state, drop_at.
INSERT INTO foliot_request (queue, `key`, request, digest, kind, id, generation, due_at, state, drop_at)
WITH {wanted}
SELECT queue, task_key, request, digest, kind, id, generation, due_at, state, drop_at
FROM wanted
