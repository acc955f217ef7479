-- Reads the documents of a kind in the order of their names, or only the document with a given name.
SELECT name, version, content
FROM foliot_document
WHERE kind = ?
{named?} AND name = ?
ORDER BY name
