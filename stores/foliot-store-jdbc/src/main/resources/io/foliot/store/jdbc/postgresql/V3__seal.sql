-- Whether the store is sealed, for calls in transactions of callers. The document of the seal has no row while the
-- store is open, so these calls could not lock it.
INSERT INTO foliot_meta (name, value)
SELECT 'sealed', CASE WHEN EXISTS (SELECT FROM foliot_document WHERE kind = 'cluster' AND name = 'seal')
  THEN 'yes' ELSE 'no' END;

UPDATE foliot_meta SET value = '3' WHERE name = 'schema';
