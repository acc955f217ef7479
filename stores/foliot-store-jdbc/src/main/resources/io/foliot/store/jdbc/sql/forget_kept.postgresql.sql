-- Forgets kept records whose time is over, oldest first. Rows that another node is forgetting are left to it.
DELETE FROM foliot_final WHERE id IN (
  SELECT id FROM foliot_final
  WHERE drop_at <= (SELECT {clock_micros} / 1000)
  ORDER BY drop_at LIMIT ?
  FOR UPDATE SKIP LOCKED
)
