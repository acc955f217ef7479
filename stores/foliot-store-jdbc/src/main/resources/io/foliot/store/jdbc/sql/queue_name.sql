-- Reads the name of a queue.
SELECT name FROM foliot_queue WHERE number = ?
