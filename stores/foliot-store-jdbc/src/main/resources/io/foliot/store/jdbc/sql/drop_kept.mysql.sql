-- Deletes the kept rows of tasks that this transaction has made live again.
DELETE FROM foliot_final WHERE id IN ({ids})
