-- Reads records with the clock and the floor of generations. If there is no record, returns one row without a record.
SELECT clock.micros, clock.floor, record.id IS NOT NULL, record.*
FROM ({clock}) clock
LEFT JOIN ({records}) record ON TRUE
