-- Deletes kept records that have expired, oldest first.
DELETE FROM foliot_final WHERE drop_at <= ? ORDER BY drop_at LIMIT ?
