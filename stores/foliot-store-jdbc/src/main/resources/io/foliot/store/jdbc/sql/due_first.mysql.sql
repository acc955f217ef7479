-- Reads when the first entry of each slot is due, from a time on. A loose index scan costs little for the many slots
-- without entries.
SELECT part, MIN(wake_at)
FROM foliot_task
WHERE part IN ({slots}) AND wake_at >= ?
GROUP BY part
