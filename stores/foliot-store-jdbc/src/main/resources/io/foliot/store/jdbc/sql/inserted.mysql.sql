-- Reads the results of an insert, in the transaction of the insert.
SELECT {inserted_columns} FROM foliot_task WHERE id IN ({ids})
