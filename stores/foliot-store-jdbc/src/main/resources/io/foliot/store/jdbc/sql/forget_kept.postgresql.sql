-- Deletes kept records that have expired, oldest first. Skips rows that another node is deleting.
DELETE FROM foliot_final WHERE id IN (
  SELECT id FROM foliot_final
  WHERE drop_at <= (SELECT {clock_micros} / 1000)
  ORDER BY drop_at LIMIT ?
  FOR UPDATE SKIP LOCKED
)
