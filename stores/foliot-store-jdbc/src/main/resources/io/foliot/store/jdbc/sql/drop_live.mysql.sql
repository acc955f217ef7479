-- Deletes live rows that this transaction has locked and kept.
DELETE FROM foliot_task WHERE id IN ({ids})
