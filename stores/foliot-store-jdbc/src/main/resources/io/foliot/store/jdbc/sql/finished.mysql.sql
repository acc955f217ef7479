-- The tasks that this transaction has copied to the kept rows: their live rows still exist.
-- wanted: id, token.
SELECT wanted.place
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_final kept ON kept.id = wanted.id
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE kept.token = wanted.token
