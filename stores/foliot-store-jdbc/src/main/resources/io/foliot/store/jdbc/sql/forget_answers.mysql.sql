-- Deletes the answers that expired first, up to a limit.
DELETE FROM foliot_request WHERE drop_at <= ? ORDER BY drop_at LIMIT ?
