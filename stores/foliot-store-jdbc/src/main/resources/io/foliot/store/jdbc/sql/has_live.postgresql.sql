-- Returns whether a queue has a live task. Reads at most one entry of the index of tasks without a key, and one of the
-- index of tasks with a key; more only if tasks of the queue have ended in place.
SELECT EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NULL AND drop_at IS NULL)
  OR EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NOT NULL AND drop_at IS NULL)
