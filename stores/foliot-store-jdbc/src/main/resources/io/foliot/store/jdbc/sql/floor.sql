-- The smallest generation that may be given out.
SELECT floor FROM foliot_clock
