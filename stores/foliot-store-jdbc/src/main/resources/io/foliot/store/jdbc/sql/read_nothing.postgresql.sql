-- Reads no record, for calls that need only the clock and the floor of generations.
SELECT {live_columns}
FROM foliot_task record
WHERE false
