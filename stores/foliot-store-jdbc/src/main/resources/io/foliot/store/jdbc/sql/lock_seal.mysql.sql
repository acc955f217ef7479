-- Waits until all transactions that have executed the statement sealed have ended.
SELECT value FROM foliot_meta WHERE name = 'sealed' FOR UPDATE
