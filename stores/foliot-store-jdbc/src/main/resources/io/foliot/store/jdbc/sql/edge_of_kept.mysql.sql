-- Reads the last kept id that a page may examine. Returns no row if the page may examine all ids that follow.
SELECT id FROM foliot_final WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?
