-- The parameters as a table: wanted(place, ...) AS (VALUES ...), see class Values.
(WITH {wanted} SELECT * FROM wanted)
