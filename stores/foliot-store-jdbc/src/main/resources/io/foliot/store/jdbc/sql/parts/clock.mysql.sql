-- The clock, read once for a statement: in microseconds, in milliseconds rounded down (now) and rounded up (for
-- delays); and the smallest generation that may be given out.
SELECT reading.micros, reading.micros DIV 1000 AS millis, (reading.micros + 999) DIV 1000 AS millis_up,
  (SELECT floor FROM foliot_clock) AS floor
FROM (SELECT {clock_micros} AS micros) reading
