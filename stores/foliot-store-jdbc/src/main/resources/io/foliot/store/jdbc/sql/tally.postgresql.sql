-- Counts rows by queue, state and whether they are parked. It reads whole tables.
SELECT queue, state, part >= {parked}, count(*) FROM foliot_task GROUP BY 1, 2, 3
UNION ALL
SELECT queue, state, false, count(*) FROM foliot_final WHERE drop_at > (SELECT {clock_micros} / 1000) GROUP BY 1, 2
