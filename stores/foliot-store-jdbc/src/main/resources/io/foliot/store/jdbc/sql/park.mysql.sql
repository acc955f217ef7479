-- Parks waiting tasks that are due: their index entries move from the slots to the partition of their queue.
-- Safety rests on wake_at, state and due_at in the WHERE: an entry that has moved since it was read is not parked.
-- wanted: id, wake_at.
UPDATE ({clock}) clock
STRAIGHT_JOIN {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
SET
  task.part = {parked} + task.queue,
  task.version = {versions} + wanted.place - 1
WHERE task.wake_at = wanted.wake_at AND task.part < {parked}
  AND task.state = {delayed} AND task.due_at <= clock.millis
