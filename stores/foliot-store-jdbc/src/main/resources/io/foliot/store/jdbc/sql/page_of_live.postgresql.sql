-- Reads a page of the live records of all queues in the order of ids. The page ends at the edge at the latest. The edge
-- is the last record that may be examined; it bounds the cost of a page. Without an edge, the page may extend to the
-- last record.
WITH edge AS MATERIALIZED (
  SELECT {clock_micros} AS micros, last.id, coalesce(last.id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS upto
  FROM (SELECT (SELECT id FROM foliot_task WHERE id > ? ORDER BY id OFFSET ? LIMIT 1) AS id) last
)
SELECT edge.micros, edge.id AS edge, page.*
FROM edge
LEFT JOIN (
  SELECT * FROM (
    SELECT {live_columns} FROM foliot_task record, edge
    WHERE record.id > ? AND record.id <= edge.upto AND record.drop_at IS NULL
  ) found
  ORDER BY found.id
  LIMIT ?
) page ON true
ORDER BY page.id
