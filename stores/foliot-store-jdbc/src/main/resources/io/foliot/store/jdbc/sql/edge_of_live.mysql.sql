-- The last live id that a page may read: none if there are fewer.
SELECT id FROM foliot_task WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?
