-- Deletes the answers that expired first, up to a limit. Skips rows that another node is deleting.
DELETE FROM foliot_request WHERE (queue, key, request) IN (
  SELECT queue, key, request FROM foliot_request
  WHERE drop_at <= (SELECT {clock_micros} / 1000)
  ORDER BY drop_at LIMIT ?
  FOR UPDATE SKIP LOCKED
)
