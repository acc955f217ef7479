-- The settings on which it depends what a commit survives.
SELECT @@version, @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite
