-- Reads records with the clock and the floor of generations. If there is no record, returns one row with NULL in place
-- of a record.
SELECT clock.micros, clock.floor, record.*
FROM (SELECT {clock_micros} AS micros, (SELECT floor FROM foliot_clock) AS floor) clock
LEFT JOIN ({records}) record ON true
