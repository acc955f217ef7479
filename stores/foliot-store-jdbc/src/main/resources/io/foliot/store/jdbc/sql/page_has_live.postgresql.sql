-- Returns whether a page of the table, in the order of ids, has a live task of a queue, and the last id of the page;
-- null at the end of the table. It is asked only when a queue without keyed tasks is deleted, so it has no index of its
-- own. The page bounds the time of one statement.
WITH edge AS MATERIALIZED (
  SELECT last.id, coalesce(last.id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS upto
  FROM (SELECT (SELECT id FROM foliot_task WHERE id > ? ORDER BY id OFFSET ? LIMIT 1) AS id) last
)
SELECT edge.id, EXISTS (
  SELECT FROM foliot_task WHERE id > ? AND id <= edge.upto AND queue = ? AND drop_at IS NULL
)
FROM edge
