package io.foliot.wheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/**
 * The contract kit that every {@link TimerQueue} passes. It makes the same random calls to a queue and to a model.
 * After every call, the expired timers, their order, the size and the current tick must be those of the model. If
 * {@link #wakesAsModelled} is true, the next wake must also be that of the model. Further tests are for known bugs of
 * other wheels.
 *
 * <p>The message of a failure has the seed. {@code -Dfoliot.seed=N} runs seed N alone, {@code -Dfoliot.seeds=N} runs N
 * seeds.
 */
public abstract class TimerQueueContract {
  private static final int DEFAULT_SEEDS = 400;
  private static final int STEPS_PER_SEED = 400;
  private static final int NO_LIMIT = Integer.MAX_VALUE;

  protected abstract TimerQueue create(long startTick);

  /** Returns a model of the order and the wakes that this queue promises. */
  protected TimerQueueModel model(long startTick) {
    return new SortedModel(startTick);
  }

  /** Returns the longest delay, in ticks, that the queue accepts. */
  protected long maxDelay() {
    return Long.MAX_VALUE;
  }

  /** Returns true if the random tests may use any tick, false if only ticks that a queue reaches in a short time. */
  protected boolean takesAllTicks() {
    return true;
  }

  /** Returns whether the next wake and the number of touched timers must be equal to those of the model. */
  protected boolean wakesAsModelled() {
    return true;
  }

  /** Returns whether a cancelled timer may still cause a wake until the queue drops it. */
  protected boolean wakesForCancelled() {
    return false;
  }

  @Test
  void behavesAsItsModelUnderRandomOperations() {
    Long only = Long.getLong("foliot.seed");
    int seeds = Integer.getInteger("foliot.seeds", DEFAULT_SEEDS);
    for (long seed = only == null ? 0 : only; seed < (only == null ? seeds : only + 1); seed++) {
      try {
        new Run(seed).run();
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed + ": " + e.getMessage(), e);
      }
    }
  }

  /** One random history. */
  private final class Run {
    private final RandomGenerator random;
    private final int scale;
    private final TimerQueue queue;
    private final TimerQueueModel model;
    private final List<Long> handles = new ArrayList<>();
    private final boolean sinkCallsQueue;
    private long payloads;

    Run(long seed) {
      random = new Random(seed);
      scale = 1 + random.nextInt(takesAllTicks() ? 62 : 12);
      long start = takesAllTicks() ? edge() : random.nextInt(1000);
      sinkCallsQueue = random.nextBoolean();
      queue = create(start);
      model = model(start);
    }

    void run() {
      for (int step = 0; step < STEPS_PER_SEED; step++) {
        switch (random.nextInt(8)) {
          case 0, 1, 2 -> schedule();
          case 3 -> cancel();
          case 4 -> reschedule();
          default -> advance();
        }
        check();
      }
      drain();
    }

    private void schedule() {
      long deadline = deadline();
      long payload = payloads++;
      long handle = queue.schedule(deadline, payload);
      assertThat(handle).isNotZero();
      model.schedule(handle, deadline, payload);
      handles.add(handle);
    }

    private void cancel() {
      long handle = anyHandle();
      assertThat(queue.cancel(handle)).as("cancel of %s", handle).isEqualTo(model.cancel(handle));
    }

    private void reschedule() {
      long handle = anyHandle();
      long deadline = deadline();
      assertThat(queue.reschedule(handle, deadline)).isEqualTo(model.reschedule(handle, deadline));
    }

    private void advance() {
      long now = random.nextInt(4) == 0 && takesAllTicks() ? edge() : later(queue.currentTick(), step());
      int limit = random.nextInt(3) == 0 ? 1 + random.nextInt(5) : NO_LIMIT;
      if (random.nextInt(3) == 0) {
        now = Math.max(queue.currentTick(), queue.isEmpty() ? now : queue.nextWake());
      }
      if (!takesAllTicks()) {
        now = Math.min(now, queue.currentTick() + 5000);
      }
      advance(now, limit);
    }

    private void advance(long now, int limit) {
      long before = queue.currentTick();
      if (now < before) {
        assertThat(queue.advance(now, limit, (h, d, p) -> {
          throw new AssertionError("a timer expired though the clock went back");
        })).isZero();
        assertThat(queue.currentTick()).isEqualTo(before);
        return;
      }
      int touched;
      do {
        // A queue that does not count the same moves as its model would reach a limit at a different timer. So the
        // model gets no limit. The test repeats the advance until the queue touches fewer timers than its limit.
        model.begin(now, wakesAsModelled() ? limit : NO_LIMIT);
        touched = queue.advance(now, limit, (handle, deadline, payload) -> {
          TimerQueueModel.Entry expected = model.next();
          assertThat(expected).as("timer %s handed out early or twice, deadline %s", handle, deadline).isNotNull();
          assertThat(handle).isEqualTo(expected.handle);
          assertThat(deadline).isEqualTo(expected.deadlineTick).isLessThanOrEqualTo(now);
          assertThat(payload).isEqualTo(expected.payload);
          assertThat(queue.cancel(handle)).as("cancel of the handle of an expired timer").isFalse();
          if (sinkCallsQueue && random.nextInt(3) == 0) {
            switch (random.nextInt(3)) {
              case 0 -> schedule();
              case 1 -> cancel();
              default -> reschedule();
            }
          }
        });
        assertThat(touched).isLessThanOrEqualTo(limit);
        if (!wakesAsModelled() && touched == limit) {
          model.stoppedAt(queue.currentTick());
        }
      } while (!wakesAsModelled() && touched == limit);
      TimerQueueModel.Entry missed = model.next();
      assertThat(missed).as("not handed out at %s", now).isNull();
      if (wakesAsModelled()) {
        assertThat(touched).isEqualTo(model.touched());
      }
    }

    private void check() {
      assertThat(queue.size()).isEqualTo(model.live().size());
      assertThat(queue.isEmpty()).isEqualTo(model.live().isEmpty());
      assertThat(queue.currentTick()).isEqualTo(model.currentTick());
      if (wakesAsModelled()) {
        assertThat(queue.nextWake()).isEqualTo(model.nextWake());
      } else {
        long earliest = model.live().values().stream().mapToLong(e -> e.deadlineTick).min().orElse(TimerQueue.NEVER);
        assertThat(queue.nextWake()).isLessThanOrEqualTo(Math.max(earliest, queue.currentTick()));
        if (earliest > queue.currentTick() && !wakesForCancelled()) {
          assertThat(queue.nextWake()).isGreaterThan(queue.currentTick());
        }
      }
      Set<Long> visited = new HashSet<>();
      queue.forEach((handle, deadline, payload) -> {
        assertThat(visited.add(handle)).isTrue();
        TimerQueueModel.Entry entry = model.live().get(handle);
        assertThat(entry).isNotNull();
        assertThat(deadline).isEqualTo(entry.deadlineTick);
        assertThat(payload).isEqualTo(entry.payload);
      });
      assertThat(visited).isEqualTo(model.live().keySet());
    }

    private void drain() {
      for (int i = 0; i < 1_000_000 && !queue.isEmpty(); i++) {
        advance(Math.max(queue.currentTick(), queue.nextWake()), NO_LIMIT);
      }
      check();
      assertThat(queue.isEmpty()).isTrue();
    }

    private long deadline() {
      if (!takesAllTicks()) {
        return queue.currentTick() + Math.min(maxDelay(), random.nextLong(-2, 1L << scale));
      }
      return switch (random.nextInt(8)) {
        case 0 -> edge();
        case 1 -> queue.currentTick();
        case 2 -> random.nextLong();
        default -> later(queue.currentTick(), step());
      };
    }

    /** Returns a random number of ticks, often a power of two or one less. */
    private long step() {
      int bits = random.nextInt(scale + 1);
      return switch (random.nextInt(4)) {
        case 0 -> (1L << bits) - 1;
        case 1 -> 1L << bits;
        default -> random.nextLong(1L << bits);
      };
    }

    /** Returns a random tick, often at a carry of the base-64 digits or at an end of the range. */
    private long edge() {
      int digits = random.nextInt(11);
      return switch (random.nextInt(7)) {
        case 0 -> Long.MIN_VALUE + random.nextInt(3);
        case 1 -> -1L + random.nextInt(3);
        case 2 -> (1L << (6 * digits)) - 1;
        case 3 -> -(1L << (6 * digits));
        case 4 -> (1L << 36) - 1;
        case 5 -> Long.MAX_VALUE - random.nextInt(70);
        default -> random.nextLong();
      };
    }

    private long anyHandle() {
      return handles.isEmpty() || random.nextInt(50) == 0
          ? random.nextLong()
          : handles.get(random.nextInt(handles.size()));
    }
  }

  private static long later(long tick, long step) {
    long later = tick + step;
    return later < tick ? Long.MAX_VALUE : later;
  }

  private static List<Long> expire(TimerQueue queue, long now) {
    List<Long> payloads = new ArrayList<>();
    queue.advance(now, NO_LIMIT, (handle, deadline, payload) -> payloads.add(payload));
    return payloads;
  }

  @Test
  void aDueTimerExpiresAtTheNextAdvanceAndNotBefore() {
    TimerQueue queue = create(10);
    queue.schedule(10, 1);
    queue.schedule(5, 2);
    queue.schedule(11, 3);
    assertThat(queue.nextWake()).isEqualTo(10);
    assertThat(expire(queue, 10)).containsExactly(1L, 2L);
    assertThat(expire(queue, 10)).isEmpty();
    assertThat(expire(queue, 11)).containsExactly(3L);
  }

  @Test
  void noTimerMeansNoWake() {
    TimerQueue queue = create(0);
    assertThat(queue.isEmpty()).isTrue();
    assertThat(queue.nextWake()).isEqualTo(TimerQueue.NEVER);
    long handle = queue.schedule(Math.min(maxDelay(), 3), 1);
    assertThat(queue.cancel(handle)).isTrue();
    if (!wakesForCancelled()) {
      assertThat(queue.nextWake()).isEqualTo(TimerQueue.NEVER);
    }
  }

  @Test
  void aSinkThatSchedulesForTheSameTickDoesNotStopTime() {
    TimerQueue queue = create(0);
    List<Long> seen = new ArrayList<>();
    queue.schedule(5, 0);
    queue.schedule(9, 100);
    TimerQueue.Sink sink = (handle, deadline, payload) -> {
      seen.add(payload);
      if (payload < 3) {
        queue.schedule(queue.currentTick(), payload + 1);
      }
    };
    while (queue.advance(9, NO_LIMIT, sink) > 0) {
      assertThat(queue.currentTick()).isEqualTo(9);
    }
    assertThat(seen).containsExactly(0L, 100L, 1L, 2L, 3L);
  }

  @Test
  void aTimerThatASinkSchedulesExpiresInTheSameAdvance() {
    TimerQueue queue = create(0);
    List<Long> ticks = new ArrayList<>();
    queue.schedule(5, 0);
    queue.advance(20, NO_LIMIT, (handle, deadline, payload) -> {
      ticks.add(deadline);
      queue.schedule(deadline + 5, 0);
    });
    assertThat(ticks).containsExactly(5L, 10L, 15L, 20L);
    assertThat(queue.nextWake()).isBetween(wakesAsModelled() ? 25L : 21L, 25L);
  }

  @Test
  void aTimerScheduledIntoADrainingSlotDoesNotOvertake() {
    TimerQueue queue = create(0);
    long first = Math.min(maxDelay() - 3, 64);
    queue.schedule(first, 1);
    queue.schedule(first + 3, 2);
    List<Long> seen = new ArrayList<>();
    while (seen.isEmpty()) {
      queue.advance(first, 1, (handle, deadline, payload) -> {
        seen.add(payload);
        queue.schedule(first + 3, 3);
      });
    }
    queue.schedule(first + 3, 4);
    while (queue.advance(first + 10, 1, (handle, deadline, payload) -> seen.add(payload)) > 0) {
      assertThat(seen).doesNotHaveDuplicates();
    }
    assertThat(seen).containsExactly(1L, 2L, 3L, 4L);
  }

  @Test
  void aSinkMayCancelTimersOfTheSameTick() {
    TimerQueue queue = create(0);
    long[] handles = new long[3];
    for (int i = 0; i < 3; i++) {
      handles[i] = queue.schedule(7, i);
    }
    List<Long> seen = new ArrayList<>();
    queue.advance(7, NO_LIMIT, (handle, deadline, payload) -> {
      seen.add(payload);
      assertThat(queue.cancel(handle)).isFalse();
      assertThat(queue.cancel(handles[1])).isEqualTo(payload == 0);
    });
    assertThat(seen).containsExactly(0L, 2L);
    assertThat(queue.isEmpty()).isTrue();
  }

  @Test
  void aSinkMayPostponeATimerOfTheSameTick() {
    TimerQueue queue = create(0);
    queue.schedule(7, 0);
    long sibling = queue.schedule(7, 1);
    List<Long> seen = new ArrayList<>();
    queue.advance(8, NO_LIMIT, (handle, deadline, payload) -> {
      seen.add(payload);
      queue.reschedule(sibling, 12);
    });
    assertThat(seen).containsExactly(0L);
    assertThat(expire(queue, 11)).isEmpty();
    assertThat(expire(queue, 12)).containsExactly(1L);
  }

  @Test
  void aThrowingSinkLosesOnlyTheTimerItReceived() {
    TimerQueue queue = create(0);
    for (int i = 0; i < 3; i++) {
      queue.schedule(4, i);
    }
    List<Long> seen = new ArrayList<>();
    TimerQueue.Sink poison = (handle, deadline, payload) -> {
      seen.add(payload);
      if (payload == 1) {
        throw new IllegalStateException("poison");
      }
    };
    assertThatThrownBy(() -> queue.advance(4, NO_LIMIT, poison)).hasMessage("poison");
    assertThat(queue.size()).isEqualTo(1);
    queue.advance(4, NO_LIMIT, poison);
    assertThat(seen).containsExactly(0L, 1L, 2L);
  }

  @Test
  void advanceFromInsideTheSinkIsRefusedWithoutEffect() {
    TimerQueue queue = create(0);
    queue.schedule(4, 1);
    queue.schedule(5, 2);
    List<Long> seen = new ArrayList<>();
    queue.advance(5, NO_LIMIT, (handle, deadline, payload) -> {
      seen.add(payload);
      assertThatThrownBy(() -> queue.advance(5, 1, (h, d, p) -> {})).isInstanceOf(IllegalStateException.class);
    });
    assertThat(seen).containsExactly(1L, 2L);
  }

  @Test
  void aClockThatGoesBackFiresNothingEarly() {
    TimerQueue queue = create(100);
    queue.schedule(80, 1);
    assertThat(queue.advance(90, NO_LIMIT, (h, d, p) -> {
      throw new AssertionError("early");
    })).isZero();
    assertThat(queue.currentTick()).isEqualTo(100);
    assertThat(expire(queue, 100)).containsExactly(1L);
  }

  @Test
  void allTimersOfAnHourExpireInOrderInOneAdvance() {
    TimerQueue queue = create(0);
    int count = (int) Math.min(maxDelay(), 3600);
    for (int i = count; i > 0; i--) {
      queue.schedule(i, i);
    }
    List<Long> payloads = expire(queue, 3_600_000);
    assertThat(payloads).hasSize(count).isSorted();
    assertThat(queue.currentTick()).isEqualTo(3_600_000);
  }

  @Test
  void aMillionTimersInOneTickAreHandedOutInLimitedParts() {
    TimerQueue queue = create(0);
    long deadline = Math.min(maxDelay(), 100);
    int count = 1_000_000;
    for (int i = 0; i < count; i++) {
      queue.schedule(deadline, i);
    }
    long[] next = {0};
    int budget = 1000;
    int turns = 0;
    while (queue.advance(deadline, budget,
        (handle, tick, payload) -> assertThat(payload).isEqualTo(next[0]++)) == budget) {
      turns++;
    }
    assertThat(next[0]).isEqualTo(count);
    assertThat(turns).isGreaterThanOrEqualTo(count / budget);
    assertThat(queue.isEmpty()).isTrue();
  }

  @Test
  void aVisitedTimerCanBeCancelledByItsHandle() {
    TimerQueue queue = create(0);
    for (int i = 0; i < 1000; i++) {
      queue.schedule(Math.min(maxDelay(), i * 37L), i);
    }
    List<Long> handles = new ArrayList<>();
    queue.forEach((handle, deadline, payload) -> handles.add(handle));
    assertThat(handles).hasSize(1000);
    handles.forEach(handle -> assertThat(queue.cancel(handle)).isTrue());
    handles.forEach(handle -> assertThat(queue.cancel(handle)).isFalse());
    assertThat(queue.isEmpty()).isTrue();
    assertThat(expire(queue, 100_000)).isEmpty();
  }

  @Test
  void theVisitorMayCancelTheTimersItVisits() {
    TimerQueue queue = create(0);
    for (int i = 0; i < 100; i++) {
      queue.schedule(1 + i % 7, i);
    }
    queue.forEach((handle, deadline, payload) -> {
      if (payload % 2 == 0) {
        assertThat(queue.cancel(handle)).isTrue();
      }
    });
    assertThat(queue.size()).isEqualTo(50);
    assertThat(expire(queue, 10)).hasSize(50).allMatch(payload -> payload % 2 == 1);
  }

  @Test
  void aStaleHandleAffectsNoTimer() {
    TimerQueue queue = create(0);
    long first = queue.schedule(5, 1);
    assertThat(queue.cancel(first)).isTrue();
    long second = queue.schedule(5, 2);
    assertThat(second).isNotEqualTo(first);
    assertThat(queue.cancel(first)).isFalse();
    assertThat(queue.reschedule(first, 1)).isFalse();
    assertThat(expire(queue, 5)).containsExactly(2L);
    for (long forged : new long[]{0, -1, 1, Long.MIN_VALUE, Long.MAX_VALUE, first, second, second + 1, 1L << 32}) {
      assertThat(queue.cancel(forged)).as("forged handle %s", forged).isFalse();
      assertThat(queue.reschedule(forged, 1)).isFalse();
    }
  }

  @Test
  void aFarTimerHidesNoNearTimer() {
    for (long far = 2; far > 0 && far <= maxDelay() && far <= (takesAllTicks() ? Long.MAX_VALUE : 4096); far <<= 1) {
      TimerQueue queue = create(0);
      queue.schedule(far, -1);
      long at = 0;
      for (long step = 1; step <= 130; step++) {
        at += step;
        queue.schedule(at, at);
        List<Long> expired = expire(queue, at);
        assertThat(expired).endsWith(at);
        assertThat(queue.size()).isEqualTo(at < far ? 1 : 0);
      }
    }
  }

  @Test
  void badArgumentsAreRefusedWithoutEffect() {
    TimerQueue queue = create(0);
    queue.schedule(1, 1);
    assertThatThrownBy(() -> queue.advance(1, 0, (h, d, p) -> {})).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> queue.advance(1, -1, (h, d, p) -> {})).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> queue.advance(1, 1, null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> queue.forEach(null)).isInstanceOf(NullPointerException.class);
    assertThat(expire(queue, 1)).containsExactly(1L);
  }
}
