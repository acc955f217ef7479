-- Reads whether the store is sealed, and whether all reads of this transaction return the rows as they were at its
-- first read. Until the transaction ends, the store cannot be sealed.
-- FOR SHARE locks the table in the mode ROW SHARE, which conflicts with the lock of lock_seal. This lock of the table
-- is only in memory. Calls that begin while a seal waits for its lock must wait for the seal. A lock of the row would
-- be a logged write, so the row is locked only above READ COMMITTED. There, the first read of the transaction may have
-- been before the seal, and FOR SHARE then fails.
SELECT 1 FROM foliot_meta WHERE name = 'sealed' AND {keeps_snapshot} FOR SHARE;
SELECT value, {keeps_snapshot} FROM foliot_meta WHERE name = 'sealed'
