-- The slot of a task: the last 16 bits of its id, masked with the parameter, the number of slots less 1.
((get_byte(uuid_send(task.id), 14) << 8 | get_byte(uuid_send(task.id), 15)) & ?)
