-- The columns of clock.postgresql.sql, and the smallest generation that may be given out. The parameter is the
-- largest reading of the clock by this process.
SELECT reading.micros, reading.micros / 1000 AS millis, (reading.micros + 999) / 1000 AS millis_up,
  greatest((SELECT floor FROM foliot_clock), ?) AS floor
FROM (SELECT {clock_micros} AS micros OFFSET 0) reading
