package io.foliot.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.core.TaskId;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.store.Draft;
import io.foliot.core.store.ExtendResult;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * The tests of the contract of {@link TaskStore}. The test of a store extends this class and implements {@link #open}.
 * The clock of the store is a {@link SettableClock}, so no test sleeps. The test of a store that has a clock of its own
 * extends {@link ServerClockStoreContract} instead.
 *
 * <p>The superclasses are the parts of the kit. This class adds the tests that set the clock, and random operations
 * whose results are compared with a model.
 *
 * <p>A failure of the model test names its seed. {@code -Dfoliot.seed=N} runs seed N alone, and
 * {@code -Dfoliot.seeds=N} runs N seeds.
 */
public abstract class TaskStoreContract extends FullContract {
  private static final int DEFAULT_SEEDS = 20;
  private static final int STEPS_PER_SEED = 300;

  private final SettableClock clock = new SettableClock();

  /** Opens a store that has no tasks and no documents, and that uses the given clock. */
  protected abstract TaskStore open(TimeSource storeClock);

  /** Closes a store and opens it again on the same data. A store in memory does not override this method. */
  protected TaskStore reopen(TaskStore old, TimeSource storeClock) {
    return old;
  }

  /**
   * Returns the model to compare the store with: an empty store that keeps the contract, with the same clock and number
   * of slots. The default is a {@link MemoryStore}, so the test of that class overrides this method.
   */
  protected TaskStore model(int slotCount, TimeSource storeClock) {
    SplittableRandom tokens = new SplittableRandom();
    return new MemoryStore(slotCount, storeClock, () -> new Token(tokens.nextLong(), tokens.nextLong()));
  }

  /** Returns the clock of the store under test. */
  protected final SettableClock clock() {
    return clock;
  }

  @Override
  final TaskStore openEmpty() {
    return open(clock);
  }

  @Override
  final TaskStore openAgain(TaskStore old) {
    return reopen(old, clock);
  }

  @Override
  final void pass(Duration time) {
    clock.advance(time);
  }

  @Override
  final long tickMillis() {
    return 10;
  }

  @Test
  void behavesAsItsModelUnderRandomOperations() {
    Long only = Long.getLong("foliot.seed");
    int seeds = Integer.getInteger("foliot.seeds", DEFAULT_SEEDS);
    for (long seed = only == null ? 0 : only; seed < (only == null ? seeds : only + 1); seed++) {
      try (TaskStore model = model(store().slotCount(), clock)) {
        new ModelRun(seed, clock, store(), model).run(STEPS_PER_SEED);
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
      closeStore();
      openStore();
    }
  }

  @Test
  void theStoreFollowsItsClock() {
    assertThat(get(store().timeMicros(0))).isEqualTo(clock.wallMicros());
    clock.advance(Duration.ofNanos(1_234_567));
    assertThat(get(store().timeMicros(store().slotCount() - 1))).isEqualTo(clock.wallMicros());
  }

  @Test
  void aTaskIsDueInItsMillisecondAndNotInTheOneBefore() {
    TaskId id = created("a", now() + 10);
    clock.advance(Duration.ofNanos(9_999_999));
    later(claim(id));
    clock.advance(Duration.ofNanos(1));
    won(id);
  }

  @Test
  void aLeaseEndsInItsMillisecondAndNotInTheOneBefore() {
    TaskId id = due("a");
    won(id, 10);
    clock.advance(Duration.ofNanos(9_999_999));
    later(claim(id));
    clock.advance(Duration.ofNanos(1));
    assertThat(won(id).attempt()).isEqualTo(2);
  }

  @Test
  void anIdempotencyKeyIsKeptForADay() {
    Draft draft = withIdempotency(draft("a", now() + 100 * HOUR), "request", 1);
    submit(draft);
    clock.advance(Duration.ofMillis(Draft.Idempotency.KEPT_MILLIS - 1));
    assertThat(submit(draft).kind()).isEqualTo(SubmitResult.Kind.REPEATED);
    clock.advance(Duration.ofMillis(1));
    assertThat(submit(withIdempotency(draft("a", now()), "request", 2)).kind()).isEqualTo(SubmitResult.Kind.RESET);
    assertThat(submit(draft).kind()).isEqualTo(SubmitResult.Kind.MISMATCHED);
  }

  @Test
  void finalTasksVanishInTheirMillisecondAndNotInTheOneBefore() {
    store().configure(QUEUE, retention(HOUR, 2 * HOUR));
    TaskId finished = due("a");
    finish(won(finished));
    TaskId failed = failed("b");
    clock.advance(Duration.ofMillis(HOUR - 1));
    record(finished);
    clock.advance(Duration.ofMillis(1));
    assertThat(find(id(finished))).isEmpty();
    clock.advance(Duration.ofMillis(HOUR - 1));
    record(failed);
    clock.advance(Duration.ofMillis(1));
    assertThat(find(id(failed))).isEmpty();
  }

  @Test
  void theGenerationsOfAKeyGrowWhenTheClockIsSetBack() {
    long last = 0;
    for (int i = 0; i < 10; i++) {
      long created = submit("a", now() + HOUR).generation();
      assertThat(created).isGreaterThan(last);
      long touched = touch(key("a"), now() + HOUR).generation();
      assertThat(touched).isGreaterThan(created);
      last = touched;
      cancel(key("a"));
      clock.stepWall(Duration.ofMinutes(-10));
    }
  }

  @Test
  void generationsGrowEvenIfFinalTasksVanishAtOnce() {
    store().configure(QUEUE, retention(0, 0));
    long last = 0;
    for (int i = 0; i < 10; i++) {
      assertThat(submit("a", now()).generation()).isGreaterThan(last);
      for (int j = 0; j < 5; j++) {
        last = touch(key("a"), now()).generation();
      }
      cancel(key("a"));
      assertThat(find(key("a"))).isEmpty();
      clock.stepWall(Duration.ofMinutes(i % 2 == 0 ? 0 : -10));
    }
  }

  @Test
  void aLeaseThatWasFoundEndedStaysEndedWhenTheClockIsSetBack() {
    TaskRecord running = won(due("a"), 10);
    clock.advance(Duration.ofMillis(10));
    assertThat(extend(running, 0).leaseEnd()).isZero();
    clock.stepWall(Duration.ofHours(-1));
    assertThat(extend(running, HOUR)).isEqualTo(new ExtendResult(ExtendResult.Kind.STALE, 0));
    finish(running);
  }

  @Test
  void aLeaseHoldsLongerWhenTheClockIsSetBack() {
    TaskId id = due("a");
    won(id, 10);
    TaskId other = created("b", now() + 10);
    clock.stepWall(Duration.ofHours(-1));
    later(claim(id));
    later(claim(other));
    clock.stepWall(Duration.ofHours(2));
    won(id);
    won(other);
  }
}
