-- Locks live records by id. Above READ COMMITTED, fails if a record has changed since the first read of the
-- transaction.
SELECT 1
FROM unnest(?::uuid[]) AS wanted(id)
JOIN foliot_task task ON task.id = wanted.id
ORDER BY task.id
FOR UPDATE OF task
