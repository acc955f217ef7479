-- Reads records with the clock and the floor of generations: one row with NULL for the record if there is none.
SELECT clock.micros, clock.floor, record.*
FROM (SELECT {clock_micros} AS micros, (SELECT floor FROM foliot_clock) AS floor) clock
LEFT JOIN ({records}) record ON true
