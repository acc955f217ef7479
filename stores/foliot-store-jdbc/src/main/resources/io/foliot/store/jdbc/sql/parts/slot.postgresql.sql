-- The slot of a task: the last 16 bits of its id, of which ? (the number of slots less 1) leaves as many as there are
-- slots.
((get_byte(uuid_send(task.id), 14) << 8 | get_byte(uuid_send(task.id), 15)) & ?)
