-- The clock in microseconds since 1970.
SELECT {clock_micros}
