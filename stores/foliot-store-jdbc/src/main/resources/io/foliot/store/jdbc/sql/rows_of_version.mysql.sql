-- Which rows have the versions that they were to get, or that they were read with; locked, they keep them until the
-- commit.
-- wanted: id, version.
SELECT wanted.place
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task task ON task.id = wanted.id
WHERE task.version = wanted.version
{locking?} FOR UPDATE
