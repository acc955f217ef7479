-- Reads which tasks this transaction has copied to the kept rows. The live rows of these tasks still exist.
-- wanted: id, token.
SELECT wanted.place
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_final kept ON kept.id = wanted.id
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE kept.token = wanted.token
