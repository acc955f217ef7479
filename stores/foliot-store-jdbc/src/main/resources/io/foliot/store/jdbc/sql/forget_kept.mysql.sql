-- Forgets kept records whose time is over, oldest first.
DELETE FROM foliot_final WHERE drop_at <= ? ORDER BY drop_at LIMIT ?
