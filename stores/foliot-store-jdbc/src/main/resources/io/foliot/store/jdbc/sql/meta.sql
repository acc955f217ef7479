-- Reads a property of the store.
SELECT value FROM foliot_meta WHERE name = ?
