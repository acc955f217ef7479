-- Reads when tasks can be claimed next, and the times of their index entries. wanted: id.
SELECT wanted.place, CASE WHEN task.state = {running} THEN task.lease_end ELSE task.due_at END, task.wake_at
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
