-- The last kept id that a page may read: none if there are fewer.
SELECT id FROM foliot_final WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?
