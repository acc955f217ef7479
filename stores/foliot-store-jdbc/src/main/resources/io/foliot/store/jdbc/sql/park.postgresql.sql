-- Parks waiting tasks that are due: their index entries move from the slots to the partition of their queue.
-- Safety rests on wake_at, state and due_at in the WHERE: an entry that has moved since it was read is not parked.
WITH clock AS MATERIALIZED ({clock})
UPDATE foliot_task task SET
  part = {parked} + task.queue,
  version = task.version + 1
FROM clock, unnest(?::uuid[], ?) WITH ORDINALITY AS wanted(id, wake_at, place)
WHERE task.id = wanted.id AND task.wake_at = wanted.wake_at AND task.due_at <= clock.millis
  AND CASE WHEN task.state = {delayed} AND task.part < {parked} THEN true END
RETURNING wanted.place
