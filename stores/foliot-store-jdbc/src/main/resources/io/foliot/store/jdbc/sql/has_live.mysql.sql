-- Returns whether a queue has a live task, by one entry of its index.
SELECT 1 FROM foliot_task FORCE INDEX (foliot_task_key) WHERE queue = ? LIMIT 1
