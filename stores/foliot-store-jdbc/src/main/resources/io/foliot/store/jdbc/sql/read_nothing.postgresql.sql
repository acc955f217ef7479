-- No record: only the clock and the floor are asked for.
SELECT {live_columns}
FROM foliot_task record
WHERE false
