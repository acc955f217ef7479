-- Reads the index entries of the parked tasks of a queue, in all slots or in some slots: the first entries after a
-- position, in their order.
SELECT task.wake_at, task.id
FROM foliot_task task
WHERE task.part = ? AND (task.wake_at, task.id) > (?, ?)
{slots?} AND {slot} = ANY (?)
ORDER BY task.wake_at, task.id
LIMIT ?
