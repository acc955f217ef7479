-- Before a queue is deleted, the server reads this index to find out whether the queue has a live task without a key.
-- For tasks with a key, it reads foliot_task_key.
CREATE INDEX foliot_task_queue ON foliot_task (queue) WHERE key IS NULL;

UPDATE foliot_meta SET value = '2' WHERE name = 'schema';
