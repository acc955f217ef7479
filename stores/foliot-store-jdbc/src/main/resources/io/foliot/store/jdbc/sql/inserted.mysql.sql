-- The results of an insert, read within its transaction.
SELECT {inserted_columns} FROM foliot_task WHERE id IN ({ids})
