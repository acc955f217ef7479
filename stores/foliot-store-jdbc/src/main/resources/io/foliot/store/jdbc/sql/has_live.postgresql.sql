-- Returns whether a queue has a live task. If the queue has a task with a key, its entry in foliot_task_key is read, or
-- a few entries if tasks have ended in place. Otherwise the table is read until the queue is found. There is no index
-- for this question, because it is asked only when a queue is deleted.
SELECT EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NOT NULL AND drop_at IS NULL)
  OR EXISTS (SELECT FROM foliot_task WHERE queue = ? AND drop_at IS NULL)
