-- Returns whether the store is sealed, and whether the non-locking reads of this transaction return the rows as they
-- were at the first read of the transaction. Until the transaction ends, the store cannot be sealed. The locking read
-- returns the newest version of the row at each isolation level.
SELECT value, {isolation} NOT IN ('READ-COMMITTED', 'READ-UNCOMMITTED')
FROM foliot_meta
WHERE name = 'sealed'
LOCK IN SHARE MODE
