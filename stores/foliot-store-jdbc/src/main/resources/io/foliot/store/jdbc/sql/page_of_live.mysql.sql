-- Reads a page of the live records of all queues in the order of ids. The page ends with the record at the edge, which
-- edge_of_live reads. Without an edge, the page reads to the last record.
SELECT clock.micros, shown.id IS NOT NULL, shown.*
FROM ({clock}) clock
LEFT JOIN (
  SELECT {live_columns}
  FROM foliot_task record
  WHERE record.id > ?
  {edge?} AND record.id <= ?
  ORDER BY record.id
  LIMIT ?
) shown ON TRUE
ORDER BY shown.id
