-- Reads the floor: the smallest generation that may be given out.
SELECT floor FROM foliot_clock
