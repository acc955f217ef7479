-- No record, for calls that read only the clock and the floor.
SELECT {live_columns}
FROM foliot_task record
WHERE FALSE
