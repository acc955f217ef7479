-- Deletes the answers to these requests if they have expired.
DELETE FROM foliot_request answer
USING unnest(?, ?, ?) AS wanted(queue, key, request)
WHERE answer.queue = wanted.queue AND answer.key = wanted.key AND answer.request = wanted.request
  AND answer.drop_at <= (SELECT {clock_micros} / 1000)
