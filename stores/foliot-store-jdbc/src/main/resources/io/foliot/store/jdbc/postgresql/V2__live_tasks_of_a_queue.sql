-- Whether a queue has a live task is asked before it is deleted. Tasks with a key are in foliot_task_key already.
CREATE INDEX foliot_task_queue ON foliot_task (queue) WHERE key IS NULL;

UPDATE foliot_meta SET value = '2' WHERE name = 'schema';
