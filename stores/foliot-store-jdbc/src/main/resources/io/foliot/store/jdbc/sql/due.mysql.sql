-- Reads the index entries of one slot in the order of the index and without a row of the table; many are joined by
-- UNION ALL.
(
  SELECT {place} AS place, wake_at, id, queue
  FROM foliot_task
  WHERE part = ? AND wake_at >= ? AND wake_at <= ? AND (wake_at > ? OR id > ?)
  ORDER BY wake_at, id
  LIMIT ?
)
