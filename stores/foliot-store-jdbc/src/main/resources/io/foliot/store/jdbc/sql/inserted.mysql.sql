-- What became of tasks to be inserted, within the transaction that inserted them.
SELECT {inserted_columns} FROM foliot_task WHERE id IN ({ids})
