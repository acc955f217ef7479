-- Reads when tasks can be claimed next, and the times of their index entries.
SELECT wanted.place, CASE WHEN task.state = {running} THEN task.lease_end ELSE task.due_at END, task.wake_at
FROM unnest(?::uuid[]) WITH ORDINALITY AS wanted(id, place)
JOIN foliot_task task ON task.id = wanted.id
