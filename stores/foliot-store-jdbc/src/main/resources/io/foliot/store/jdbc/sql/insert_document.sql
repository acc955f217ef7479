-- Inserts a document. The primary key makes the second of two callers fail.
INSERT INTO foliot_document (kind, name, version, content) VALUES (?, ?, ?, ?)
