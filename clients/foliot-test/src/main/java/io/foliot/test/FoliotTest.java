package io.foliot.test;

import io.foliot.Foliot;
import io.foliot.PayloadCodec;
import io.foliot.RecurringJobs;
import io.foliot.Tasks;
import io.foliot.Workers;
import java.time.Duration;
import java.time.Instant;

/**
 * A {@link Foliot} for tests: tasks in memory, a clock that is stopped until {@link #advance}, and handlers on the
 * thread of the test. It is the engine itself, so keys, retries, limits and cancels behave as they do in production.
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
 * <p>One thread. A handler takes no time, so timeouts do not end it. An exception of a handler is logged and the task
 * retried; it does not reach the test.
 */
public final class FoliotTest implements Foliot {
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");

  private final ManualDriver driver;
  private final Foliot delegate;

  private FoliotTest(ManualDriver driver) {
    this.driver = driver;
    delegate = Foliot.builder().node("test").driver(driver).inMemory();
  }

  /** Starts at the beginning of 2026. */
  public static FoliotTest start() {
    return startAt(START);
  }

  /** Starts at an instant. */
  public static FoliotTest startAt(Instant instant) {
    return new FoliotTest(new ManualDriver(instant));
  }

  /** Returns the time of the clock. */
  public Instant now() {
    return driver.now();
  }

  /**
   * Lets time pass. Tasks run at their due times, in the order of due times; so do tasks that handlers submit, if they
   * are due by the end.
   *
   * @param time not negative. A day takes some seconds
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
   * Refuses: a worker has threads of its own, which do not run by the clock of a test.
   *
   * @throws UnsupportedOperationException always
   */
  @Override
  public Workers workers() {
    throw new UnsupportedOperationException("a worker has threads of its own, which do not run by the clock of a test:"
        + " call its handlers directly, or start it over Foliot.inMemory()");
  }

  @Override
  public void close() {
    delegate.close();
  }
}
