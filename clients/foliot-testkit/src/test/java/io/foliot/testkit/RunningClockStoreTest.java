package io.foliot.testkit;

import static java.util.Objects.requireNonNull;

import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

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

  private @Nullable MemoryStore store;

  @Override
  protected TaskStore open() {
    MemoryStore opened = new MemoryStore(1, running,
        () -> new Token(ThreadLocalRandom.current().nextLong(), ThreadLocalRandom.current().nextLong()));
    store = opened;
    return opened;
  }

  @Override
  protected void setFull(boolean isFull) {
    requireNonNull(store).setFull(isFull);
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
