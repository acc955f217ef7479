package io.foliot.store.rocksdb;

import java.time.Instant;

/**
 * A backup.
 *
 * @param number counts up within its folder
 * @param madeAt when it was made
 * @param bytes how long its files are in all; files that have not changed are shared between backups
 * @param files how many files it has
 */
public record BackupSummary(int number, Instant madeAt, long bytes, int files) {}
