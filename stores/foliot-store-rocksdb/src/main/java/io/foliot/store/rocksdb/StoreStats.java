package io.foliot.store.rocksdb;

import io.foliot.core.store.StoreStatistics.Figure;
import java.util.List;

/**
 * The counters and sizes of a store, for metrics.
 *
 * @param commits number of commits that wrote something since the store was opened
 * @param syncs number of these commits that were synced: all except those that only move index entries
 * @param items number of items in all counted commits; a call has one or more items
 * @param prepareMicros total time of reading, deciding and encoding before the writes
 * @param syncMicros total time of writing and syncing
 * @param lastCommitItems items in the latest counted commit
 * @param lastSyncMicros time of the latest counted commit's write and sync
 * @param waitingItems items of calls that are not completed yet
 * @param cachedRecords records in the record cache
 * @param cachedBytes estimated heap of the record cache
 * @param freeBytes free space of the file system when it was last measured
 * @param logBytes length of all logs
 * @param fileBytes length of all files of records and indexes
 * @param memtableBytes native memory of data that is in the log and not yet in files
 * @param unreadable number of tasks found unreadable since the store was opened; they are not fired
 */
public record StoreStats(long commits, long syncs, long items, long prepareMicros, long syncMicros,
    long lastCommitItems, long lastSyncMicros, long waitingItems, long cachedRecords, long cachedBytes,
    long freeBytes, long logBytes, long fileBytes, long memtableBytes, long unreadable) {
  /** Returns the figures that an operator watches. */
  List<Figure> figures() {
    return List.of(Figure.level("free.bytes", "Free space of the file system", freeBytes),
        Figure.level("log.bytes", "Length of the store's log", logBytes),
        Figure.level("file.bytes", "Length of the store's files", fileBytes),
        Figure.level("memtable.bytes", "Data that is in the log and not yet in files", memtableBytes),
        Figure.level("cached.records", "Records in the store's cache", cachedRecords),
        Figure.level("cached.bytes", "Heap of the store's cache", cachedBytes),
        Figure.level("unreadable", "Tasks that this version cannot read, and does not fire", unreadable),
        Figure.level("waiting", "Items of calls that are not completed yet", waitingItems),
        Figure.total("commits", "Commits that wrote something", commits),
        Figure.total("commit.items", "Items in the commits that wrote something", items),
        Figure.seconds("sync.seconds", "Time spent on writing and syncing", syncMicros),
        Figure.seconds("prepare.seconds", "Time spent on deciding and encoding", prepareMicros));
  }
}
