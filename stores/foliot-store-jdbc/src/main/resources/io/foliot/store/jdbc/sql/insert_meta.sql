-- Writes a property of a new store. The primary key makes the second of two nodes fail.
INSERT INTO foliot_meta (name, value) VALUES (?, ?)
