package io.foliot.load;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler;
import io.foliot.core.SystemClock;
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

/** An engine with a RocksDB store in this process, as an application embeds it. */
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

  /** Creates a pull queue without workers. Returns its name. */
  String pullQueue(String name) {
    await(engine.putQueue(QueueConfig.of(name, Target.pull())));
    return name;
  }

  /** Returns the number of delayed tasks in a queue; 0 if there is no such queue. */
  long waiting(String queue) {
    return await(engine.queues()).stream().filter(status -> status.queue().name().equals(queue))
        .mapToLong(status -> status.counts().delayed()).sum();
  }

  static <T> T await(CompletableFuture<T> answer) {
    return answer.orTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS).join();
  }

  /** Asynchronous calls that one thread makes, with a limit of calls in flight. */
  static final class Pipeline {
    private final Semaphore permits;
    private final int size;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    Pipeline(int size) {
      this.size = size;
      permits = new Semaphore(size);
    }

    /** Waits until the limit permits a call, then makes it. Throws if an earlier call failed. */
    void call(Supplier<CompletableFuture<?>> call) {
      acquire(1);
      CompletableFuture<?> unused = call.get().whenComplete((answer, problem) -> {
        if (problem != null) {
          failure.compareAndSet(null, problem);
        }
        permits.release();
      });
    }

    /** Waits until all calls are complete. Throws if a call failed. */
    void drain() {
      acquire(size);
      permits.release(size);
    }

    private void acquire(int count) {
      try {
        if (!permits.tryAcquire(count, TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
          throw new BenchException("calls of the engine did not complete within " + TIMEOUT_SECONDS + " s");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new BenchException("interrupted", e);
      }
      Throwable problem = failure.get();
      if (problem != null) {
        throw new BenchException("a call of the engine failed: " + problem.getMessage(), problem);
      }
    }
  }

  @Override
  public void close() {
    engine.close();
    store.close();
  }
}
