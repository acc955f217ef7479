-- Reads live records by id.
SELECT {live_columns}
FROM unnest(?::uuid[]) AS wanted(id)
JOIN foliot_task record ON record.id = wanted.id
