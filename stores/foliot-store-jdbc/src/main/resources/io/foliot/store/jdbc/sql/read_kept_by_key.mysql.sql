-- Reads the latest kept record of each key. wanted: queue, task_key.
SELECT {kept_columns}
FROM {wanted_rows} wanted
STRAIGHT_JOIN foliot_final record ON record.queue = wanted.queue AND record.`key` = wanted.task_key
WHERE record.generation = (
  SELECT MAX(kept.generation) FROM foliot_final kept
  WHERE kept.queue = wanted.queue AND kept.`key` = wanted.task_key
)
