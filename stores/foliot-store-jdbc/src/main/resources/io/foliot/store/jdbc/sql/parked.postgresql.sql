-- Reads the index entries of the parked tasks of a queue, for all slots or for some slots. Returns the first entries
-- after a position, in the order of the index.
SELECT task.wake_at, task.id
FROM foliot_task task
WHERE task.part = ? AND (task.wake_at, task.id) > (?, ?)
{slots?} AND {slot} = ANY (?)
ORDER BY task.wake_at, task.id
LIMIT ?
