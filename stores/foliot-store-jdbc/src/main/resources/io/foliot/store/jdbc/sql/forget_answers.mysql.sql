-- Deletes answers that have expired, oldest first.
DELETE FROM foliot_request WHERE drop_at <= ? ORDER BY drop_at LIMIT ?
