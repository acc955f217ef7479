-- Waits for the end of each transaction that has executed the statement "sealed".
SELECT value FROM foliot_meta WHERE name = 'sealed' FOR UPDATE
