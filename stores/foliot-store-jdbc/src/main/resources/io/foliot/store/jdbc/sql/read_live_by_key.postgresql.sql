-- Reads live records by key: at most one record for each key.
SELECT {live_columns}
FROM unnest(?, ?) AS wanted(queue, key)
JOIN foliot_task record ON record.queue = wanted.queue AND record.key = wanted.key
