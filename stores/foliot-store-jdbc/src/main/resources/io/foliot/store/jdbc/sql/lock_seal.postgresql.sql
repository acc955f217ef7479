-- Waits for the end of each transaction that has executed the statement "sealed". Plain reads of the table do not
-- conflict with the lock.
LOCK TABLE foliot_meta IN EXCLUSIVE MODE
