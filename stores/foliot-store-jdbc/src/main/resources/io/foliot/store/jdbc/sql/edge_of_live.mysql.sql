-- Reads the last live id that a page may examine; no row if fewer ids follow than a page may examine.
SELECT id FROM foliot_task WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?
