-- Writes a property of a new store. The second of two nodes fails by the primary key.
INSERT INTO foliot_meta (name, value) VALUES (?, ?)
