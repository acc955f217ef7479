-- Returns a row if a queue has a live task. Reads at most one entry of the index.
SELECT 1 FROM foliot_task FORCE INDEX (foliot_task_key) WHERE queue = ? LIMIT 1
