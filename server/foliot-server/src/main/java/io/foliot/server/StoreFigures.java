package io.foliot.server;

import io.foliot.core.store.StoreException;
import io.foliot.store.rocksdb.RocksDbStore;
import io.foliot.store.rocksdb.StoreStats;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToDoubleFunction;

/** What the store has done and holds, as figures. */
final class StoreFigures {
  private final RocksDbStore store;
  // Asking waits while a backup is written, and whoever reads figures must not: the last ones stand until then.
  private final AtomicBoolean asked = new AtomicBoolean();

  // written by whoever asks, read by the gauges
  private volatile StoreStats stats;

  StoreFigures(RocksDbStore store, MeterRegistry registry) {
    this.store = store;
    stats = store.stats();
    gauge(registry, "foliot.store.free.bytes", "Room on the file system", StoreStats::freeBytes);
    gauge(registry, "foliot.store.log.bytes", "Length of the store's log", StoreStats::logBytes);
    gauge(registry, "foliot.store.file.bytes", "Length of the store's files", StoreStats::fileBytes);
    gauge(registry, "foliot.store.memtable.bytes", "What is in the log and not yet in files",
        StoreStats::memtableBytes);
    gauge(registry, "foliot.store.cached.records", "Records in the store's cache", StoreStats::cachedRecords);
    gauge(registry, "foliot.store.cached.bytes", "Heap of the store's cache", StoreStats::cachedBytes);
    gauge(registry, "foliot.store.unreadable", "Tasks that this version cannot read, and does not fire",
        StoreStats::unreadable);
    gauge(registry, "foliot.store.waiting", "Items that wait for the store's next commit", StoreStats::waitingItems);
    counter(registry, "foliot.store.commits", "Synced writes", StoreStats::commits);
    counter(registry, "foliot.store.commit.items", "Items in synced writes", StoreStats::items);
    counter(registry, "foliot.store.sync.seconds", "Time spent on writing and syncing", s -> s.syncMicros() / 1e6);
    counter(registry, "foliot.store.prepare.seconds", "Time spent on judging and encoding",
        s -> s.prepareMicros() / 1e6);
  }

  private void gauge(MeterRegistry registry, String name, String about, ToDoubleFunction<StoreStats> figure) {
    Gauge.builder(name, () -> figure.applyAsDouble(stats)).description(about).register(registry);
  }

  private void counter(MeterRegistry registry, String name, String about, ToDoubleFunction<StoreStats> figure) {
    FunctionCounter.builder(name, this, figures -> figure.applyAsDouble(figures.stats)).description(about)
        .register(registry);
  }

  private void ask() {
    try {
      stats = store.stats();
    } catch (StoreException e) {
      // A store that is closed keeps its last figures.
    } finally {
      asked.set(false);
    }
  }

  /** Asks for newer figures, which the next reading shows at the latest. */
  void refresh() {
    if (asked.compareAndSet(false, true)) {
      Thread.startVirtualThread(this::ask);
    }
  }
}
