-- This database has no index that only the deletion of a queue reads.
UPDATE foliot_meta SET value = '5' WHERE name = 'schema';
