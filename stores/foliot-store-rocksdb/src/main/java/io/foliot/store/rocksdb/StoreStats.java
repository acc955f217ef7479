package io.foliot.store.rocksdb;

/**
 * What a store has done and what it holds, for metrics.
 *
 * @param commits writes so far
 * @param syncs how many of them were synced: all but those that only move index entries of tasks that were pushed back
 * @param items items of calls that were in them
 * @param prepareMicros time spent in all on reading, judging and encoding
 * @param syncMicros time spent in all on writing and syncing
 * @param lastCommitItems items in the last one
 * @param lastSyncMicros time of the last one's write and sync
 * @param waitingItems items of calls that are not answered yet
 * @param cachedRecords records in the record cache
 * @param cachedBytes heap of the record cache, by its own estimate
 * @param freeBytes room on the file system when it was last looked at
 * @param logBytes length of the log
 * @param fileBytes length of all files of records and indexes
 * @param memtableBytes native memory of what is in the log and not yet in files
 * @param unreadable tasks that were found to be unreadable and are not fired, since the store was opened
 */
public record StoreStats(long commits, long syncs, long items, long prepareMicros, long syncMicros,
    long lastCommitItems, long lastSyncMicros, long waitingItems, long cachedRecords, long cachedBytes,
    long freeBytes, long logBytes, long fileBytes, long memtableBytes, long unreadable) {}
