-- Reads the time of the first index entry of each slot from a given time on. A loose index scan costs little for the
-- many slots without entries.
SELECT part, MIN(wake_at)
FROM foliot_task
WHERE part IN ({slots}) AND wake_at >= ?
GROUP BY part
