-- Reads which rows have the expected versions. These are the versions that this transaction has written, or those that
-- an earlier read has returned. The lock keeps the rows unchanged until the commit.
-- wanted: id, version.
SELECT wanted.place
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE task.version = wanted.version
{locking?} FOR UPDATE
