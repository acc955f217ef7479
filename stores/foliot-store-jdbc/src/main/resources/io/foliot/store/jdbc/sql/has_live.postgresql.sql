-- Returns whether a queue has a live task. If the queue has a task with a key, its entry in foliot_task_key is enough,
-- or a few entries if tasks have ended in place. Otherwise the statement reads the table until it finds the queue. It
-- is asked only when a queue is deleted, so it has no index of its own.
SELECT EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NOT NULL AND drop_at IS NULL)
  OR EXISTS (SELECT FROM foliot_task WHERE queue = ? AND drop_at IS NULL)
