package io.foliot.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.core.Scheduler;
import io.foliot.core.Submission;
import io.foliot.core.delivery.Answer;
import io.foliot.core.store.TaskRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that a queue's tasks fire on time, regardless of the workers, receivers and handlers of other queues. */
final class IsolationTest {
  private static final int QUARTER_MIB = 256 << 10;
  private static final Duration DAY = Duration.ofHours(24);
  /** The queue whose tasks must be on time. */
  private static final String VICTIM = "victim";
  /** The largest lateness of a task that is on time. */
  private static final long PUNCTUAL_MILLIS = 100;

  private static World world(int loops) {
    return new World(options -> options.loops(loops), UnaryOperator.identity());
  }

  private static QueueConfig to(String destination, String name, Duration timeout) {
    return QueueConfig.of(name, new Target(Target.LOCAL, Map.of("destination", destination), timeout));
  }

  private static Body payload(int bytes) {
    return new Body(new byte[bytes], "application/octet-stream", Map.of());
  }

  private static void submit(World world, String queue, int tasks, int bytes) {
    Body body = payload(bytes);
    for (int i = 0; i < tasks; i++) {
      world.submit(Submission.after(queue, Duration.ZERO, body));
    }
  }

  /** Ensures that the victim's tasks, ten a second for ten seconds, are on time. */
  private static void ensureVictimIsPunctual(World world, int bytes) {
    for (int i = 0; i < 100; i++) {
      world.submit(Submission.after(VICTIM, Duration.ofMillis(100L * i + 50), payload(bytes)));
    }
    world.advance(Duration.ofSeconds(11));
    List<Long> lateMillis = world.receiver.seen.stream()
        .filter(seen -> seen.attempt().task().queue().equals(VICTIM)).map(World.Seen::lateMillis).toList();
    assertThat(lateMillis).hasSize(100);
    assertThat(lateMillis).allMatch(late -> late <= PUNCTUAL_MILLIS);
  }

  /** Gives this answer to the attempts of all queues but the victim. */
  private static void others(World world, CompletableFuture<Answer> answer) {
    world.receiver.behaviour = attempt -> attempt.task().queue().equals(VICTIM)
        ? CompletableFuture.completedFuture(new Answer.Done(""))
        : answer;
  }

  private static long heldBytes(World world) {
    return world.receiver.seen.stream().filter(seen -> !seen.answer().isDone())
        .mapToLong(seen -> seen.attempt().task().body().payload().length).sum();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void tasksThatWorkersHoldForADayDelayNoOtherQueue(int loops) {
    try (World world = world(loops)) {
      world.queue(QueueConfig.of("pull", Target.pull()));
      world.queue(to("there", VICTIM, Duration.ofSeconds(10)));
      submit(world, "pull", 256, QUARTER_MIB);
      world.advance(Duration.ofSeconds(1));
      List<TaskRecord> held = new ArrayList<>();
      for (int i = 0; i < 60 && held.size() < 256; i++) {
        CompletableFuture<List<TaskRecord>> pulled = world.engine
            .pull(new Scheduler.Pull("pull", 100, 100, DAY.toMillis(), "w"));
        world.advance(Duration.ofMillis(200));
        held.addAll(pulled.join());
      }
      assertThat(held.stream().filter(task -> task.body().payload().length == QUARTER_MIB).count())
          .as("tasks with their payload").isEqualTo(256);
      ensureVictimIsPunctual(world, QUARTER_MIB);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4, 64})
  void receiversThatHangWithLargePayloadsDelayNoOtherQueue(int loops) {
    try (World world = world(loops)) {
      others(world, new CompletableFuture<>());
      // All payloads together are 90 MiB, but a node keeps at most 64 MiB of payloads.
      for (int i = 0; i < 18; i++) {
        world.queue(to("hangs" + i, "hog" + i, DAY));
        submit(world, "hog" + i, 20, QUARTER_MIB);
      }
      world.queue(to("there", VICTIM, Duration.ofSeconds(10)));
      world.advance(Duration.ofSeconds(1));
      ensureVictimIsPunctual(world, QUARTER_MIB);
    }
  }

  @Test
  void manyReceiversThatHangWithTheLargestPayloadsDelayNoOtherQueue() {
    try (World world = world(1)) {
      others(world, new CompletableFuture<>());
      for (int i = 0; i < 36; i++) {
        world.queue(to("hangs" + i, "hog" + i, DAY));
        submit(world, "hog" + i, 20, 1 << 20);
      }
      world.queue(to("there", VICTIM, Duration.ofSeconds(10)));
      world.advance(Duration.ofSeconds(5));
      ensureVictimIsPunctual(world, QUARTER_MIB);
    }
  }

  @Test
  void payloadsOfHangingReceiversAreBounded() {
    try (World world = world(1)) {
      others(world, new CompletableFuture<>());
      for (int i = 0; i < 300; i++) {
        world.queue(to("hangs" + i, "hog" + i, DAY));
        submit(world, "hog" + i, 20, 1 << 20);
        // In this time the lane measures the size of its payloads.
        world.advance(Duration.ofMillis(20));
      }
      world.advance(Duration.ofSeconds(5));
      assertThat(heldBytes(world)).isLessThanOrEqualTo(64L << 20);
    }
  }

  @Test
  void lanesWithoutRoomAreServedInTurn() {
    try (World world = new World(options -> options.callItems(1_000).callBytes(1), UnaryOperator.identity())) {
      List<CompletableFuture<Answer>> open = new ArrayList<>();
      world.receiver.behaviour = attempt -> {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        open.add(answer);
        return answer;
      };
      for (int i = 0; i < 50; i++) {
        world.queue(to("there" + i, "q" + i, DAY));
        submit(world, "q" + i, 4, 1 << 20);
      }
      for (int i = 0; i < 200; i++) {
        world.advance(Duration.ofMillis(110));
        assertThat(open.stream().filter(answer -> !answer.isDone()).count()).isEqualTo(1);
        open.getLast().complete(new Answer.Done(""));
        world.settle();
      }
      List<String> order = world.receiver.seen.stream().map(seen -> seen.attempt().task().queue()).toList();
      assertThat(order).hasSize(200);
      for (int round = 0; round < 4; round++) {
        assertThat(order.subList(50 * round, 50 * round + 50)).as("each queue once in a round").doesNotHaveDuplicates();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 4})
  void callbacksThatAreAcceptedAndReportedLaterDelayNoOtherQueue(int loops) {
    try (World world = world(loops)) {
      others(world, CompletableFuture.completedFuture(new Answer.Accepted("")));
      world
          .queue(to("accepts", "later", DAY).toBuilder().retry(new Retry(1, Duration.ofSeconds(1), 2, DAY, 0)).build());
      world.queue(to("there", VICTIM, Duration.ofSeconds(10)));
      submit(world, "later", 600, QUARTER_MIB);
      world.advance(Duration.ofSeconds(5));
      assertThat(world.receiver.seen.size()).isEqualTo(600);
      ensureVictimIsPunctual(world, QUARTER_MIB);
    }
  }

  @Test
  void aHandlerThatHangsDelaysNoHandlerOfAnotherQueue() {
    try (World world = world(1)) {
      others(world, new CompletableFuture<>());
      world.queue(World.local("hangs"));
      world.queue(World.local(VICTIM));
      submit(world, "hangs", 2_000, 10);
      world.advance(Duration.ofSeconds(1));
      ensureVictimIsPunctual(world, 10);
    }
  }
}
