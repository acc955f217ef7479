-- Reads a page of the live and the kept records of a queue in the order of ids, for one state or for all states. The
-- page ends at the edge at the latest, as in page_of_live. The edge is the smaller of the edges of both tables.
WITH edge AS MATERIALIZED (
  SELECT {clock_micros} AS micros, last.id, coalesce(last.id, 'ffffffff-ffff-ffff-ffff-ffffffffffff') AS upto
  FROM (
    SELECT least(
      (SELECT id FROM foliot_task WHERE id > ? ORDER BY id OFFSET ? LIMIT 1),
      (SELECT id FROM foliot_final WHERE id > ? ORDER BY id OFFSET ? LIMIT 1)
    ) AS id
  ) last
)
SELECT edge.micros, edge.id AS edge, page.*
FROM edge
LEFT JOIN (
  SELECT * FROM (
    SELECT {live_columns} FROM foliot_task record, edge
    WHERE record.id > ? AND record.id <= edge.upto AND record.queue = ?
    {state?} AND record.state = ?
    UNION ALL
    SELECT {kept_columns} FROM foliot_final record, edge
    WHERE record.id > ? AND record.id <= edge.upto AND record.queue = ?
    {state?} AND record.state = ?
  ) found
  ORDER BY found.id
  LIMIT ?
) page ON true
ORDER BY page.id
