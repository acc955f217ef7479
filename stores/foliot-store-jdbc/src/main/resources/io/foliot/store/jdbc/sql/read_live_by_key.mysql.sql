-- Reads live records by key: at most one record for each key. wanted: queue, task_key.
SELECT {live_columns}
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_task record ON record.queue = wanted.queue AND record.`key` = wanted.task_key
{locking?} FOR UPDATE
