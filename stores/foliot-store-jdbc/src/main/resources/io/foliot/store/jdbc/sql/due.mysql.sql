-- Reads index entries of one slot in the order of the index, which contains all the columns. UNION ALL joins the
-- queries of several slots.
(
  SELECT {place} AS place, wake_at, id, queue
  FROM foliot_task
  WHERE part = ? AND wake_at >= ? AND wake_at <= ? AND (wake_at > ? OR id > ?)
  ORDER BY wake_at, id
  LIMIT ?
)
