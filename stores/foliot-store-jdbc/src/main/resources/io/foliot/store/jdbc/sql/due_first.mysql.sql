-- The first entry of each slot from a time on (a loose index scan): most of many slots have nothing to scan.
SELECT part, MIN(wake_at)
FROM foliot_task
WHERE part IN ({slots}) AND wake_at >= ?
GROUP BY part
