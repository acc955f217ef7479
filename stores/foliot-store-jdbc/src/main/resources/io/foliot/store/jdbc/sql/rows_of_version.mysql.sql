-- The rows that have the expected versions: those that were written, or those that were read. The lock keeps the rows
-- unchanged until the commit.
-- wanted: id, version.
SELECT wanted.place
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE task.version = wanted.version
{locking?} FOR UPDATE
