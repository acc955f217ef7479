package io.foliot.load;

import io.foliot.core.Meter;
import io.foliot.core.QueueConfig;
import io.foliot.core.Scheduler;
import io.foliot.core.SystemClock;
import io.foliot.core.Target;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.TimeSource;
import io.foliot.engine.Engine;
import io.foliot.engine.EngineOptions;
import io.foliot.engine.Environment;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import io.foliot.store.rocksdb.StoreStats;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

/** An engine over a RocksDB in this process, as an application embeds it. */
final class EmbeddedEngine implements AutoCloseable {
  private static final long SEED = 42;
  private static final long TIMEOUT_SECONDS = 60;

  private final RocksDbStore store;
  private final Engine engine;

  /** Opens the store in a folder and starts the engine. */
  EmbeddedEngine(Path folder) {
    TimeSource clock = new SystemClock();
    store = RocksDbStore.open(folder, RocksDbOptions.DEFAULT, clock);
    engine = new Engine(EngineOptions.defaults("bench"),
        new Environment(clock,
            () -> new ThreadEventLoop(clock, Thread.ofPlatform().name("bench-loop-", 0).factory()),
            new SplittableRandom(SEED), store, new SoleCoordinator(), List.of(), Meter.NONE));
    await(engine.start());
  }

  Scheduler scheduler() {
    return engine;
  }

  StoreStats stats() {
    return store.stats();
  }

  /** Makes a queue whose tasks wait for workers that never come. */
  String pullQueue(String name) {
    await(engine.putQueue(QueueConfig.of(name, Target.pull())));
    return name;
  }

  /** Returns how many tasks wait in a queue. */
  long waiting(String queue) {
    return await(engine.queues()).stream().filter(status -> status.queue().name().equals(queue))
        .mapToLong(status -> status.counts().delayed()).sum();
  }

  static <T> T await(CompletableFuture<T> answer) {
    return answer.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
  }

  /** Calls of one thread, of which a fixed number is kept under way. */
  static final class Pipeline {
    private final Semaphore places;
    private final int size;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    Pipeline(int size) {
      this.size = size;
      places = new Semaphore(size);
    }

    /** Makes a call when there is a place. */
    void call(Supplier<CompletableFuture<?>> call) {
      acquire(1);
      CompletableFuture<?> unused = call.get().whenComplete((answer, problem) -> {
        if (problem != null) {
          failure.compareAndSet(null, problem);
        }
        places.release();
      });
    }

    /** Waits until all calls are answered; throws if one failed. */
    void drain() {
      acquire(size);
      places.release(size);
    }

    private void acquire(int count) {
      try {
        if (!places.tryAcquire(count, TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
          throw new BenchException("the engine has not answered for " + TIMEOUT_SECONDS + " s");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BenchException("interrupted", e);
      }
      Throwable problem = failure.get();
      if (problem != null) {
        throw new BenchException("a call failed: " + problem.getMessage(), problem);
      }
    }
  }

  @Override
  public void close() {
    engine.close();
    store.close();
  }
}
