package io.foliot.testkit;

import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** Runs the kit for stores with their own clocks against a store whose clock advances with each reading. */
final class RunningClockStoreTest extends ServerClockStoreContract {
  private final SettableClock clock = new SettableClock();
  private final TimeSource running = new TimeSource() {
    @Override
    public long wallMicros() {
      // An odd step, so that readings fall anywhere within a millisecond.
      clock.advance(Duration.ofNanos(1_370_003));
      return clock.wallMicros();
    }

    @Override
    public long monotonicNanos() {
      return clock.monotonicNanos();
    }
  };

  private MemoryStore store;

  @Override
  protected TaskStore open() {
    store = new MemoryStore(1, running,
        () -> new Token(ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong()));
    return store;
  }

  @Override
  protected void setFull(boolean isFull) {
    store.setFull(isFull);
  }

  @Override
  protected TaskStore reopen(TaskStore old) {
    return old;
  }

  @Override
  protected void passes(Duration time) {
    clock.advance(time);
  }

  @Override
  protected Duration tick() {
    return Duration.ofSeconds(1);
  }
}
