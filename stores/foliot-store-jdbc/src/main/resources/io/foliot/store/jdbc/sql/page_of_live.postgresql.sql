-- A page of the live records of all queues in the order of ids. The page ends with the record at the edge, which is the
-- last record that may be examined, so that the cost of a page is bounded. Without an edge, the page reads to the last
-- record.
WITH edge AS MATERIALIZED (
  SELECT {clock_micros} AS micros, last.id, coalesce(last.id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS upto
  FROM (SELECT (SELECT id FROM foliot_task WHERE id > ? ORDER BY id OFFSET ? LIMIT 1) AS id) last
)
SELECT edge.micros, edge.id AS edge, page.*
FROM edge
LEFT JOIN (
  SELECT * FROM (
    SELECT {live_columns} FROM foliot_task record, edge
    WHERE record.id > ? AND record.id <= edge.upto
  ) found
  ORDER BY found.id
  LIMIT ?
) page ON true
ORDER BY page.id
