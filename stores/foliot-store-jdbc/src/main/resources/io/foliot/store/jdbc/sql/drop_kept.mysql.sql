-- Deletes kept rows that this transaction has made live again.
DELETE FROM foliot_final WHERE id IN ({ids})
