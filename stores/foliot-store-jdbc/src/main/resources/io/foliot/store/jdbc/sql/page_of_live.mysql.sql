-- Reads a page of the live records of all queues in the order of ids. The page ends at the edge at the latest. The edge
-- is the last id that may be examined; edge_of_live reads it. Without an edge, the page may extend to the last record.
SELECT clock.micros, shown.id IS NOT NULL, shown.*
FROM ({clock}) clock
LEFT JOIN (
  SELECT {live_columns}
  FROM foliot_task record
  WHERE record.id > ? AND record.drop_at IS NULL
  {edge?} AND record.id <= ?
  ORDER BY record.id
  LIMIT ?
) shown ON TRUE
ORDER BY shown.id
