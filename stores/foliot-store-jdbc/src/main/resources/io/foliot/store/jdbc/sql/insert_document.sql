-- Inserts a document. Of two callers one fails by the primary key.
INSERT INTO foliot_document (kind, name, version, content) VALUES (?, ?, ?, ?)
