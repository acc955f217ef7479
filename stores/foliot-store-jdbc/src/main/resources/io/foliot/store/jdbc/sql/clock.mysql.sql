-- Reads the time by the database's clock, in microseconds since 1970.
SELECT {clock_micros}
