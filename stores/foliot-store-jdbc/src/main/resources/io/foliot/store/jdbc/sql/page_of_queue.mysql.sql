-- Reads a page of the live and the kept records of a queue in the order of ids, for one state or for all states. The
-- page ends at the edge at the latest. The edge is the last id that may be examined: the smaller result of edge_of_live
-- and edge_of_kept. Without an edge, the page may extend to the last record.
SELECT clock.micros, shown.id IS NOT NULL, shown.*
FROM ({clock}) clock
LEFT JOIN (
  SELECT * FROM (
    (
      SELECT {live_columns}
      FROM foliot_task record
      WHERE record.id > ?
      {edge?} AND record.id <= ?
      AND record.queue = ?
      {state?} AND record.state = ?
      ORDER BY record.id
      LIMIT ?
    )
    UNION ALL
    (
      SELECT {kept_columns}
      FROM foliot_final record
      WHERE record.id > ?
      {edge?} AND record.id <= ?
      AND record.queue = ?
      {state?} AND record.state = ?
      ORDER BY record.id
      LIMIT ?
    )
  ) found
  ORDER BY id
  LIMIT ?
) shown ON TRUE
ORDER BY shown.id
