-- Reads the answers to requests.
SELECT
  wanted.place, answer.digest, answer.kind, answer.id, answer.generation, answer.due_at, answer.state, answer.drop_at
FROM unnest(?, ?, ?) WITH ORDINALITY AS wanted(queue, key, request, place)
JOIN foliot_request answer
  ON answer.queue = wanted.queue AND answer.key = wanted.key AND answer.request = wanted.request
