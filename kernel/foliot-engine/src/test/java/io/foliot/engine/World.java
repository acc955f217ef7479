package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskNote;
import io.foliot.core.Meter;
import io.foliot.core.Submission;
import io.foliot.core.TaskId;
import io.foliot.core.TaskRef;
import io.foliot.core.Token;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.SubmitResult;
import io.foliot.core.store.TaskRecord;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.testkit.ManualLoops;
import io.foliot.testkit.SettableClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** An engine that runs on one thread, with a settable clock. A receiver records the attempts that it gets. */
final class World implements AutoCloseable {
  private static final int SLOTS = 16;
  /** The internal queue of the receiver. */
  static final String INTERNAL = "foliot.plans";

  final SettableClock clock = new SettableClock();
  final ManualLoops loops = new ManualLoops(clock);
  final Receiver receiver;
  final List<String> foundLate = new ArrayList<>();
  /** The queues of claims that won a task of another queue, one entry for each claim. */
  final List<String> foreign = new ArrayList<>();
  /** The queue of each attempt that was reported because its lease had ended. */
  final List<String> leasesEnded = new ArrayList<>();
  /** The label of each task that was reported as failed. */
  final List<String> deadLetters = new ArrayList<>();
  final TaskStore store;
  final Engine engine;

  /** An attempt that the receiver got. */
  record Seen(DeliveryAttempt attempt, long atMillis, CompletableFuture<Answer> answer) {
    String text() {
      return new String(attempt.task().body().payload(), java.nio.charset.StandardCharsets.UTF_8);
    }

    long lateMillis() {
      return atMillis - attempt.task().dueAt();
    }
  }

  /** A delivery whose answers are given by {@link #behaviour}; by default, each attempt is done at once. */
  final class Receiver implements Delivery {
    final List<Seen> seen = new ArrayList<>();
    /** The queues of the awaited tasks. The end of each such task wakes the task "job" of the internal queue. */
    final Set<String> awaited = new HashSet<>();
    Function<DeliveryAttempt, CompletableFuture<Answer>> behaviour = attempt -> CompletableFuture
        .completedFuture(new Answer.Done(""));
    int running;
    int mostRunning;
    /**
     * The number of attempts that may run concurrently. The receiver answers each further attempt with a retry, because
     * it is overloaded.
     */
    final int maxInFlight;

    Receiver(int maxInFlight) {
      this.maxInFlight = maxInFlight;
    }

    @Override
    public int maxInFlight() {
      return maxInFlight;
    }

    @Override
    public String type() {
      return Target.LOCAL;
    }

    @Override
    public List<QueueConfig> internalQueues() {
      return List.of(local(INTERNAL));
    }

    @Override
    public TaskRef.@Nullable ByKey awaiting(TaskRecord ended, TaskNote.Mark mark) {
      return awaited.contains(ended.queue()) ? new TaskRef.ByKey(INTERNAL, "job") : null;
    }

    @Override
    public CompletionStage<Void> check(Target target) {
      assertThat(target.type()).isEqualTo(Target.LOCAL);
      return CompletableFuture.completedFuture(null);
    }

    @Override
    public String destination(Target target) {
      return target.settings().getOrDefault("destination", "here");
    }

    @Override
    public CompletionStage<Answer> deliver(DeliveryAttempt attempt) {
      CompletableFuture<Answer> answer = running < maxInFlight
          ? behaviour.apply(attempt)
          : CompletableFuture.completedFuture(new Answer.Retry(null, Answer.Health.OVERLOADED, "too many"));
      seen.add(new Seen(attempt, clock.wallMillis(), answer));
      running++;
      mostRunning = Math.max(mostRunning, running);
      return answer.whenComplete((given, failure) -> running--);
    }

    @Override
    public void close() {
      // Nothing to give back.
    }

    List<String> texts() {
      return seen.stream().map(Seen::text).toList();
    }
  }

  World() {
    this(UnaryOperator.identity(), UnaryOperator.identity());
  }

  World(UnaryOperator<EngineOptions.Builder> options, UnaryOperator<TaskStore> wrap) {
    this(options, wrap, Integer.MAX_VALUE);
  }

  World(UnaryOperator<EngineOptions.Builder> options, UnaryOperator<TaskStore> wrap, int maxInFlight) {
    receiver = new Receiver(maxInFlight);
    SplittableRandom random = new SplittableRandom(42);
    store = wrap.apply(new MemoryStore(SLOTS, clock, () -> new Token(random.nextLong(), random.nextLong())));
    engine = engine(options.apply(EngineOptions.builder("test")).build());
    engine.start().join();
    settle();
  }

  private Engine engine(EngineOptions options) {
    return new Engine(options, new Environment(clock, loops::newLoop, new SplittableRandom(7), store,
        new SoleCoordinator(), List.of(receiver), new Meter() {
          @Override
          public void foundLate(String queue) {
            foundLate.add(queue);
          }

          @Override
          public void deadLetter(String queue, Supplier<String> task) {
            deadLetters.add(task.get());
          }

          @Override
          public void leaseEnded(String queue) {
            leasesEnded.add(queue);
          }

          @Override
          public void foreign(String queue) {
            foreign.add(queue);
          }
        }));
  }

  /** Returns a second engine over the same store, not yet started. */
  Engine anotherEngine() {
    return engine(EngineOptions.defaults("other"));
  }

  static QueueConfig local(String name) {
    return QueueConfig.of(name, Target.local());
  }

  void queue(QueueConfig queue) {
    join(engine.putQueue(queue));
  }

  SubmitResult submit(Submission submission) {
    return join(engine.submit(submission));
  }

  SubmitResult submit(String queue, Duration delay, String text) {
    return submit(Submission.after(queue, delay, Body.json(text)));
  }

  TaskRecord task(TaskId id) {
    return join(engine.find(new TaskRef.ById(id))).orElseThrow();
  }

  /** Runs all loops until they are idle, without advancing the clock. */
  void settle() {
    loops.runUntilIdle();
  }

  void advance(Duration time) {
    loops.advance(time);
  }

  <T> T join(CompletableFuture<T> future) {
    settle();
    assertThat(future).as("answered without time passing").isDone();
    return future.join();
  }

  @Override
  public void close() {
    CompletableFuture<Void> stopped = engine.stop(Duration.ofSeconds(1));
    loops.runUntilIdle();
    if (!stopped.isDone()) {
      loops.advance(Duration.ofMillis(1_200));
    }
    assertThat(stopped).isDone();
    store.close();
  }
}
