-- Reads the first entry of each slot from a time on, by a loose index scan: of many slots, most have no entries.
SELECT part, MIN(wake_at)
FROM foliot_task
WHERE part IN ({slots}) AND wake_at >= ?
GROUP BY part
