-- Whether a queue has a live task: its index is asked for one entry.
SELECT 1 FROM foliot_task FORCE INDEX (foliot_task_key) WHERE queue = ? LIMIT 1
