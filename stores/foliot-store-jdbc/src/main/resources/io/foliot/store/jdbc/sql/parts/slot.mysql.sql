-- The slot of a task: the last 16 bits of its id, of which the mask leaves as many as there are slots.
CONV(HEX(RIGHT(id, 2)), 16, 10) & {slot_mask}
