-- Reads index entries slot by slot, and within each slot in the order of the index. The index contains all the columns,
-- so an index-only scan suffices.
SELECT scan.place, entry.wake_at, entry.id, entry.queue
FROM unnest(?, ?, ?::uuid[], ?, ?) WITH ORDINALITY AS scan(part, lowest, behind, highest, most, place)
CROSS JOIN LATERAL (
  SELECT task.wake_at, task.id, task.queue
  FROM foliot_task task
  WHERE task.part = scan.part AND (task.wake_at, task.id) > (scan.lowest, scan.behind) AND task.wake_at <= scan.highest
  ORDER BY task.wake_at, task.id
  LIMIT scan.most
) entry
ORDER BY scan.place, entry.wake_at, entry.id
