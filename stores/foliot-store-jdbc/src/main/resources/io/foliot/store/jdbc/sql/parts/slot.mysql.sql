-- The slot of a task: the last 16 bits of its id, masked with the number of slots less 1.
CONV(HEX(RIGHT(id, 2)), 16, 10) & {slot_mask}
