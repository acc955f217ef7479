-- The times at which tasks need attention next, and where their index entries are. wanted: id.
SELECT wanted.place, CASE WHEN task.state = {running} THEN task.lease_end ELSE task.due_at END, task.wake_at
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
