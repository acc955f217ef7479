-- The parameters as a table: wanted(place, ...) AS (VALUES ...), see class ParameterTable.
(WITH {wanted} SELECT * FROM wanted)
