-- Locks live records by key. Above READ COMMITTED, fails if a record has changed since the first read of the
-- transaction.
SELECT 1
FROM unnest(?, ?) AS wanted(queue, key)
JOIN foliot_task task ON task.queue = wanted.queue AND task.key = wanted.key
ORDER BY task.id
FOR UPDATE OF task
