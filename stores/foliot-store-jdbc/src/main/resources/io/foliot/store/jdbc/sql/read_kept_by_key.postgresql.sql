-- Reads the latest kept record of each key.
SELECT {kept_columns}
FROM unnest(?, ?) AS wanted(queue, key)
CROSS JOIN LATERAL (
  SELECT * FROM foliot_final kept
  WHERE kept.queue = wanted.queue AND kept.key = wanted.key
  ORDER BY kept.generation DESC LIMIT 1
) record
