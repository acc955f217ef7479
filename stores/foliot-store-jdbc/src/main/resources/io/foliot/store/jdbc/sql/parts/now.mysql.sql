-- The time by the database's clock, in milliseconds since 1970.
({clock_micros} DIV 1000)
