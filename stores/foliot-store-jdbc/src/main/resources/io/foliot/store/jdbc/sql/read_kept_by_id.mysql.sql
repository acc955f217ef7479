-- Reads kept records by id. wanted: id.
SELECT {kept_columns}
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_final record ON record.id = wanted.id
