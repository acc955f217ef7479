-- Writes a property of a new store. If two nodes write the same property, the primary key makes the second fail.
INSERT INTO foliot_meta (name, value) VALUES (?, ?)
