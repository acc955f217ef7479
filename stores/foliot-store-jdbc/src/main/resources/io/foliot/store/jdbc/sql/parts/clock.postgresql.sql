-- The clock, read once for a statement: in microseconds, in milliseconds rounded down (now) and rounded up (for
-- delays).
SELECT reading.micros, reading.micros / 1000 AS millis, (reading.micros + 999) / 1000 AS millis_up
FROM (SELECT {clock_micros} AS micros OFFSET 0) reading
