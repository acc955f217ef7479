-- Reads kept records by id.
SELECT {kept_columns}
FROM unnest(?::uuid[]) AS wanted(id)
JOIN foliot_final record ON record.id = wanted.id
