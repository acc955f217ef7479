-- Reads the index entries of the parked tasks of a queue, for all slots or for some slots. Returns the first entries
-- after a position, in the order of the index.
SELECT wake_at, id
FROM foliot_task
WHERE part = ? AND wake_at >= ? AND (wake_at > ? OR id > ?)
{slots?} AND ({slot}) IN ({slots})
ORDER BY wake_at, id
LIMIT ?
