-- Reads which rows have the expected versions. These are the versions that this transaction has written, or those that
-- an earlier read has returned. With locking, the rows stay unchanged until the commit.
-- wanted: id, version.
SELECT wanted.place
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE task.version = wanted.version
{locking?} FOR UPDATE
