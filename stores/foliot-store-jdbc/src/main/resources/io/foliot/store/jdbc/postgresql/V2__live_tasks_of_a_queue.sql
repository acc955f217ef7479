-- Finds out whether a queue has a live task, before the queue is deleted. foliot_task_key finds tasks with a key.
CREATE INDEX foliot_task_queue ON foliot_task (queue) WHERE key IS NULL;

UPDATE foliot_meta SET value = '2' WHERE name = 'schema';
