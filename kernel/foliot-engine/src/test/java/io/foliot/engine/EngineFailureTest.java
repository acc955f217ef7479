package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.core.Meter;
import io.foliot.core.Scheduler.FailedException;
import io.foliot.core.Submission;
import io.foliot.core.SystemClock;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.Token;
import io.foliot.core.Unready;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.Claim;
import io.foliot.core.store.ClaimBatch;
import io.foliot.core.store.ForwardingStore;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.coordination.SoleCoordinator;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Tests an engine with a loop that ends or stalls, and an engine whose store gives an incomplete answer. */
class EngineFailureTest {
  private static final long BOUND_SECONDS = 30;

  /** A meter that throws an {@code OutOfMemoryError} once {@code isExhausted} is set. */
  private static final class Exhausted implements Meter {
    private volatile boolean isExhausted;

    @Override
    public void loopTurn(long durationMicros) {
      if (isExhausted) {
        throw new OutOfMemoryError("injected");
      }
    }
  }

  /** A delivery that blocks the loop that calls it. No delivery may do so. */
  private static final class Blocking implements Delivery {
    private final CountDownLatch end = new CountDownLatch(1);

    @Override
    public String type() {
      return Target.LOCAL;
    }

    @Override
    public CompletionStage<Void> check(Target target) {
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public String destination(Target target) {
      return "here";
    }

    @Override
    public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
      try {
        assertThat(end.await(BOUND_SECONDS, TimeUnit.SECONDS)).isTrue();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      return CompletableFuture.completedFuture(new Answer.Done(""));
    }

    @Override
    public void close() {}
  }

  private static Engine engine(Meter meter, Delivery delivery) {
    return engine(meter, delivery, UnaryOperator.identity());
  }

  private static Engine engine(Meter meter, Delivery delivery, UnaryOperator<TaskStore> around) {
    SystemClock clock = new SystemClock();
    SplittableRandom random = new SplittableRandom(42);
    TaskStore store = around
        .apply(new MemoryStore(16, clock, () -> new Token(random.nextLong(), random.nextLong())));
    // The error that ends a loop's thread is expected here, and is not printed.
    Engine engine = new Engine(EngineOptions.defaults("test"), new Environment(clock,
        () -> new ThreadEventLoop(clock,
            Thread.ofPlatform().daemon().uncaughtExceptionHandler((thread, e) -> {}).factory()),
        new SplittableRandom(7), store, new SoleCoordinator(), List.of(delivery), meter));
    engine.start().join();
    return engine;
  }

  private static void await(BooleanSupplier condition) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
    while (!condition.getAsBoolean()) {
      assertThat(System.nanoTime()).as("waited too long").isLessThan(deadline);
      Thread.onSpinWait();
    }
  }

  @Test
  void aLoopThatDiesFailsTheEngine() throws Exception {
    Exhausted meter = new Exhausted();
    Engine engine = engine(meter, new Blocking());
    await(() -> engine.status().ready());
    meter.isExhausted = true;
    assertThat(engine.failure().get(BOUND_SECONDS, TimeUnit.SECONDS)).isInstanceOf(OutOfMemoryError.class);
    assertThat(engine.status().ready()).isFalse();
    assertThat(engine.status().unready()).singleElement().isInstanceOfSatisfying(Unready.Failed.class,
        failed -> assertThat(failed.cause()).isInstanceOf(OutOfMemoryError.class).hasMessage("injected"));
    assertThatThrownBy(() -> engine.submit(Submission.after("q", Duration.ZERO, Body.json("1"))).join())
        .isInstanceOf(CompletionException.class).hasCauseInstanceOf(FailedException.class)
        .hasMessageContaining("close it and start a new one");
    engine.stop(Duration.ofHours(1)).get(BOUND_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void anEngineWithADeadLoopAndASharedStoreCanBeStopped() throws Exception {
    Exhausted meter = new Exhausted();
    Engine engine = engine(meter, new Blocking(), store -> new ForwardingStore(store) {
      @Override
      public boolean isShared() {
        return true;
      }
    });
    await(() -> engine.status().ready());
    meter.isExhausted = true;
    engine.failure().get(BOUND_SECONDS, TimeUnit.SECONDS);
    engine.stop(Duration.ofMillis(1)).get(BOUND_SECONDS, TimeUnit.SECONDS);
  }

  /** Returns an engine whose loop hangs in the delivery of a task. */
  private Engine stalled(Blocking delivery) {
    Engine engine = engine(Meter.NONE, delivery);
    engine.putQueue(QueueConfig.of("q", Target.local())).join();
    await(() -> engine.status().ready());
    engine.submit(Submission.after("q", Duration.ZERO, Body.json("1"))).join();
    await(() -> !engine.status().ready());
    return engine;
  }

  @Test
  void aStalledLoopIsNotReady() throws Exception {
    Blocking delivery = new Blocking();
    Engine engine = stalled(delivery);
    assertThat(engine.status().unready()).singleElement().isInstanceOfSatisfying(Unready.LoopStalled.class,
        stalled -> assertThat(stalled.loop()).isZero());
    delivery.end.countDown();
    await(() -> engine.status().ready());
    assertThat(engine.failure()).isNotDone();
    engine.stop(Duration.ofSeconds(5)).get(BOUND_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void aSecondStopWaitsForTheFirst() throws Exception {
    Blocking delivery = new Blocking();
    Engine engine = stalled(delivery);
    CompletableFuture<Void> first = engine.stop(Duration.ofSeconds(BOUND_SECONDS));
    CompletableFuture<Void> second = engine.stop(Duration.ZERO);
    assertThat(second).as("the attempt still runs").isNotDone();
    delivery.end.countDown();
    second.get(BOUND_SECONDS, TimeUnit.SECONDS);
    assertThat(first).isCompleted();
  }

  @Test
  void tasksMissingInAnAnswerToAClaimAreFoundAgain() {
    UnaryOperator<TaskStore> cutOnce = store -> new ForwardingStore(store) {
      private boolean cut;

      @Override
      public CompletionStage<ClaimBatch> claim(List<Claim> claims) {
        if (cut) {
          return super.claim(claims);
        }
        cut = true;
        return CompletableFuture.completedFuture(new ClaimBatch(0, List.of()));
      }
    };
    try (World world = new World(UnaryOperator.identity(), cutOnce)) {
      world.queue(World.local("q"));
      for (int i = 0; i < 5; i++) {
        world.submit("q", Duration.ofSeconds(1), Integer.toString(i));
      }
      world.advance(Duration.ofSeconds(30));
      assertThat(world.receiver.texts()).containsExactlyInAnyOrder("0", "1", "2", "3", "4");
    }
  }
}
