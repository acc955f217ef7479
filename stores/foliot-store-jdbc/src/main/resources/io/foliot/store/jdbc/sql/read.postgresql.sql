-- Reads records with the clock and the floor of generations; if no record is found, one row with NULL for it.
SELECT clock.micros, clock.floor, record.*
FROM (SELECT {clock_micros} AS micros, (SELECT floor FROM foliot_clock) AS floor) clock
LEFT JOIN ({records}) record ON true
