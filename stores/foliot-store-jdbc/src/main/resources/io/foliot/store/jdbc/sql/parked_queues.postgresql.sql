-- Reads the numbers of the queues with parked tasks. Each step skips all entries of a partition of the index, and finds
-- the next partition.
WITH RECURSIVE parked AS (
  (SELECT part FROM foliot_task WHERE part >= {parked} ORDER BY part LIMIT 1)
  UNION ALL
  SELECT (SELECT task.part FROM foliot_task task WHERE task.part > parked.part ORDER BY task.part LIMIT 1)
  FROM parked
  WHERE parked.part IS NOT NULL
)
SELECT parked.part - {parked}
FROM parked
WHERE parked.part IS NOT NULL
{slots?} AND EXISTS (SELECT FROM foliot_task task WHERE task.part = parked.part AND {slot} = ANY (?))
