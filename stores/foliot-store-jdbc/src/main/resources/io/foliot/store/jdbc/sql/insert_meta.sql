-- Writes a property of a new store. Of two nodes one fails by the primary key.
INSERT INTO foliot_meta (name, value) VALUES (?, ?)
