package io.foliot.test;

import io.foliot.Foliot;
import io.foliot.PayloadCodec;
import io.foliot.RecurringJobs;
import io.foliot.Tasks;
import io.foliot.Workers;
import java.time.Duration;
import java.time.Instant;

/**
 * A {@link Foliot} for tests. It keeps tasks in memory, has a clock that the test moves by {@link #advance}, and runs
 * handlers on the thread of the test. It uses the real engine, so keys, retries, limits and cancels behave as they do
 * in production.
 *
 * <pre>{@code
 * try (FoliotTest foliot = FoliotTest.start()) {
 *   Shop shop = new Shop(foliot);
 *   shop.order("7");
 *   foliot.advance(Duration.ofMinutes(30));
 *   assertThat(shop.isCancelled("7")).isTrue();
 * }
 * }</pre>
 *
 * <p>For use by one thread. A handler takes no time by the clock of the test, so no handler times out. If a handler
 * throws, the task is retried, and the exception does not reach the test. For each queue, at most one exception per
 * second of real time is logged.
 */
public final class FoliotTest implements Foliot {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final ManualDriver driver;
  private final Foliot delegate;

  private FoliotTest(ManualDriver driver) {
    this.driver = driver;
    delegate = Foliot.builder().node("test").driver(driver).on(driver.store());
  }

  /** Returns a new instance whose clock begins at the start of 2026 in UTC. */
  public static FoliotTest start() {
    return startAt(START);
  }

  /** Returns a new instance whose clock begins at the given instant. */
  public static FoliotTest startAt(Instant instant) {
    return new FoliotTest(new ManualDriver(instant));
  }

  /** Returns the current time of the clock. */
  public Instant now() {
    return driver.now();
  }

  /**
   * Advances the clock. Tasks run at their due times, in the order of due times. This includes tasks that handlers
   * submit, if they become due within this time.
   *
   * <p>Time in which nothing can happen is skipped. While due tasks wait, because their queue is paused, is limited or
   * has no handler, nothing is skipped, and a day takes a second or more of real time.
   *
   * @param time how far to advance, not negative
   */
  public void advance(Duration time) {
    driver.advance(time);
  }

  @Override
  public <T> Tasks<T> tasks(String queue, Class<T> type) {
    return delegate.tasks(queue, type);
  }

  @Override
  public <T> Tasks<T> tasks(String queue, PayloadCodec<T> codec) {
    return delegate.tasks(queue, codec);
  }

  @Override
  public RecurringJobs jobs() {
    return delegate.jobs();
  }

  /**
   * Throws an exception, because the threads of a worker do not follow the clock of a test.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Workers workers() {
    throw new UnsupportedOperationException("a worker has threads of its own, which do not run by the clock of a test:"
        + " call its handlers directly, or start the worker with Foliot.inMemory()");
  }

  /**
   * Stops this instance. No new attempt begins. Handlers of attempts that have already begun still run.
   */
  @Override
  public void close() {
    delegate.close();
  }
}
