-- Reads live records by id. wanted: id.
SELECT {live_columns}
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task record ON record.id = wanted.id
{locking?} FOR UPDATE
