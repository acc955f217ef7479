-- Each claim changes the place of a task in foliot_task_wake, so it wrote an entry of this index too. Only has_live
-- read the index, when a queue is deleted. It reads the table now.
DROP INDEX IF EXISTS foliot_task_queue;

UPDATE foliot_meta SET value = '5' WHERE name = 'schema';
