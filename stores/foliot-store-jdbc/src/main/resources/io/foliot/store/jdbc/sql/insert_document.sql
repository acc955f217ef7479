-- Inserts a document. The second of two callers fails by the primary key.
INSERT INTO foliot_document (kind, name, version, content) VALUES (?, ?, ?, ?)
