-- Returns a row if a queue has a live task. Reads at most one row, and more only if tasks of
-- the queue have ended in place.
SELECT 1 FROM foliot_task FORCE INDEX (foliot_task_key) WHERE queue = ? AND drop_at IS NULL LIMIT 1
