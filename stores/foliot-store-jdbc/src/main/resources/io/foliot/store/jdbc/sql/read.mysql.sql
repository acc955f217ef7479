-- Reads records with the clock and the floor of generations: one row without a record if there is none.
SELECT clock.micros, clock.floor, record.id IS NOT NULL, record.*
FROM ({clock}) clock
LEFT JOIN ({records}) record ON TRUE
