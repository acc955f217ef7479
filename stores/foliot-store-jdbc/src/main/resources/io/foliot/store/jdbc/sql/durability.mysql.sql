-- Reads the settings that decide which failures a commit survives.
SELECT @@version, @@innodb_flush_log_at_trx_commit, @@innodb_doublewrite
