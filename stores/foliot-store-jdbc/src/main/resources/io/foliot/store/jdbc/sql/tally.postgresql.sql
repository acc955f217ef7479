-- Counts rows by queue, state and whether they are parked. Reads whole tables. A running task is counted as delayed if
-- its lease has ended.
SELECT queue, CASE WHEN state = {running} AND lease_end <= (SELECT {clock_micros} / 1000) THEN {delayed} ELSE state END,
  part >= {parked}, count(*)
FROM foliot_task GROUP BY 1, 2, 3
UNION ALL
SELECT queue, state, false, count(*) FROM foliot_final WHERE drop_at > (SELECT {clock_micros} / 1000) GROUP BY 1, 2
