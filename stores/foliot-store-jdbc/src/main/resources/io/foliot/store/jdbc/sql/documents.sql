-- The documents of a kind by name, or one of them.
SELECT name, version, content
FROM foliot_document
WHERE kind = ?
{named?} AND name = ?
ORDER BY name
