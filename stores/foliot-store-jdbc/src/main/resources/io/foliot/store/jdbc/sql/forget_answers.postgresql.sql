-- Forgets answers whose time is over, oldest first. Rows that another node is forgetting are left to it.
DELETE FROM foliot_request WHERE (queue, key, request) IN (
  SELECT queue, key, request FROM foliot_request
  WHERE drop_at <= (SELECT {clock_micros} / 1000)
  ORDER BY drop_at LIMIT ?
  FOR UPDATE SKIP LOCKED
)
