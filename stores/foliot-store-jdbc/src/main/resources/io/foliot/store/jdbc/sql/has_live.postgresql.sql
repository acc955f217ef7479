-- Returns whether a queue has a live task, by one entry of each of its two indexes.
SELECT EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NULL)
  OR EXISTS (SELECT FROM foliot_task WHERE queue = ? AND key IS NOT NULL)
