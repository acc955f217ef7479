-- Nothing to add here: foliot_task_key has the tasks without a key, too.
UPDATE foliot_meta SET value = '2' WHERE name = 'schema';
