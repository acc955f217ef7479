-- Gives a queue a number, unless it has a number. Several nodes may do so at the same time: the name is unique.
INSERT INTO foliot_queue (name) VALUES (?) ON DUPLICATE KEY UPDATE name = name
