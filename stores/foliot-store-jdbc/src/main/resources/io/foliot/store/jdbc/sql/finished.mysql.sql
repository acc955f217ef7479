-- The tasks that their claims ended in this transaction: they are among the kept rows and still among the live ones.
-- wanted: id, token.
SELECT wanted.place
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_final kept ON kept.id = wanted.id
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE kept.token = wanted.token
