-- Whether a queue has a live task: each of its two indexes is asked for one entry.
SELECT EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NULL)
  OR EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NOT NULL)
