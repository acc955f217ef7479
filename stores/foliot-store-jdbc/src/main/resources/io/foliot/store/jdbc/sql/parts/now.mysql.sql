-- The clock in milliseconds.
({clock_micros} DIV 1000)
