-- By this index, the statement has_live finds out whether a queue has a live task without a key. For tasks with a key,
-- the statement reads foliot_task_key.
CREATE INDEX foliot_task_queue ON foliot_task (queue) WHERE key IS NULL;

UPDATE foliot_meta SET value = '2' WHERE name = 'schema';
