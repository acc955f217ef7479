-- Whether all reads of this transaction return the rows as they were at its first read.
current_setting('transaction_isolation') IN ('repeatable read', 'serializable')
