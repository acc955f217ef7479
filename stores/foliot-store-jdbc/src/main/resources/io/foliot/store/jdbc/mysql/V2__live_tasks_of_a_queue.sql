-- This database needs no index for tasks without a key: foliot_task_key contains them too.
UPDATE foliot_meta SET value = '2' WHERE name = 'schema';
