-- Reads no record. It takes the place of the records in read.postgresql.sql if a call needs only the clock and the
-- floor of generations.
SELECT {live_columns}
FROM foliot_task record
WHERE false
