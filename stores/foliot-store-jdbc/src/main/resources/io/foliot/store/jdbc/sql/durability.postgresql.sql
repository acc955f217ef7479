-- Reads the settings that decide which failures a commit survives.
SELECT
  current_setting('server_version'),
  current_setting('fsync'),
  current_setting('full_page_writes'),
  current_setting('synchronous_commit'),
  (SELECT setting::int FROM pg_settings WHERE name = 'wal_writer_delay')
