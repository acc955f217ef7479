-- Returns whether a queue has a live task with a key. Its entry in foliot_task_key is enough, or a few entries if tasks
-- have ended in place.
SELECT EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NOT NULL AND drop_at IS NULL)
