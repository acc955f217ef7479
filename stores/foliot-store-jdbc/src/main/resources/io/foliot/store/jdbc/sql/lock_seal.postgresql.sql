-- Waits until all transactions that have executed the statement sealed have ended. Plain reads of the table do not
-- conflict with the lock.
LOCK TABLE foliot_meta IN EXCLUSIVE MODE
