-- Reads the number of a queue.
SELECT number FROM foliot_queue WHERE name = ?
