-- Deletes live rows that this transaction has locked and copied to the kept rows.
DELETE FROM foliot_task WHERE id IN ({ids})
