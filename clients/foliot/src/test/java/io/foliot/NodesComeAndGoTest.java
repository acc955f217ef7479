package io.foliot;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.Body;
import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.backends.Await;
import io.foliot.backends.Database;
import io.foliot.backends.PostgresServer;
import io.foliot.core.Meter;
import io.foliot.core.Submission;
import io.foliot.core.SystemClock;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.delivery.Answer;
import io.foliot.core.delivery.DeliveryAttempt;
import io.foliot.core.delivery.LocalDelivery;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.Engine;
import io.foliot.engine.EngineOptions;
import io.foliot.engine.Environment;
import io.foliot.engine.coordination.StoreCoordinator;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.jdbc.JdbcStore;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Isolated;

/**
 * Tests engines on one PostgreSQL. In each second one engine joins or leaves, while tasks are submitted and fired.
 * {@code -Dseconds=600} runs the test for ten minutes.
 */
@Tag("long")
@Isolated
final class NodesComeAndGoTest {
  private static final int SECONDS = Integer.getInteger("seconds", 10);
  private static final int TASKS_PER_SECOND = 100;
  /** Maximum number of nodes besides the first node, which stays until the end. */
  private static final int MOST_OTHERS = 5;
  private static final int MAX_DELAY_MILLIS = 5_000;
  private static final long STOP_SECONDS = 10;
  private static final Duration BOUND = Duration.ofMinutes(1);

  private final TimeSource clock = new SystemClock();
  private final ExecutorService handlers = Executors.newVirtualThreadPerTaskExecutor();
  private final int tasks = SECONDS * TASKS_PER_SECOND;
  /** Number of deliveries of each task, by the number of the task. */
  private final AtomicIntegerArray deliveries = new AtomicIntegerArray(tasks);
  /** Lateness of the last delivery of each task, by the number of the task. */
  private final AtomicIntegerArray lateMillis = new AtomicIntegerArray(tasks);
  /** Number of tasks that were delivered at least once. */
  private final AtomicInteger delivered = new AtomicInteger();
  /** Number of deliveries by node. */
  private final ConcurrentHashMap<String, Integer> firedBy = new ConcurrentHashMap<>();

  private final class Node {
    private final TaskStore store;
    private final Engine engine;

    Node(String name, Database database) {
      store = JdbcStore.open(
          JdbcOptions.builder(database.jdbcUrl(), database.user(), database.password()).connections(3).build());
      LocalDelivery delivery = new LocalDelivery(handlers).handle("q", attempt -> handle(name, attempt));
      engine = new Engine(EngineOptions.defaults(name), new Environment(clock, this::loop, new SplittableRandom(),
          store, new StoreCoordinator(store, clock, loop()), List.of(delivery), Meter.NONE));
      engine.start().join();
    }

    private ThreadEventLoop loop() {
      return new ThreadEventLoop(clock, Thread.ofPlatform().daemon().name("come-and-go").factory());
    }

    void leave() {
      engine.stop(Duration.ofSeconds(STOP_SECONDS)).join();
      store.close();
    }
  }

  private Answer handle(String name, DeliveryAttempt attempt) {
    int number = Integer.parseInt(new String(attempt.task().body().payload(), StandardCharsets.US_ASCII));
    lateMillis.set(number, Math.toIntExact(clock.wallMillis() - attempt.task().dueAt()));
    firedBy.merge(name, 1, Integer::sum);
    if (deliveries.getAndIncrement(number) == 0) {
      delivered.getAndIncrement();
    }
    return new Answer.Done("");
  }

  @Test
  void everyTaskIsFiredOnceWhileNodesComeAndGo() {
    SplittableRandom random = new SplittableRandom();
    int joined = 0;
    int left = 0;
    try (PostgresServer server = PostgresServer.start(); ExecutorService leavers = Executors.newCachedThreadPool()) {
      Database database = server.createDatabase();
      Node first = new Node("first", database);
      first.engine.putQueue(QueueConfig.of("q", Target.local())).join();
      Deque<Node> others = new ArrayDeque<>();
      List<CompletableFuture<Void>> departures = new ArrayList<>();
      for (int second = 0; second < SECONDS; second++) {
        if (others.size() == MOST_OTHERS || (!others.isEmpty() && random.nextBoolean())) {
          Node leaver = random.nextBoolean() ? others.removeFirst() : others.removeLast();
          departures.add(CompletableFuture.runAsync(leaver::leave, leavers));
          left++;
        } else {
          others.add(new Node("node-" + second, database));
          joined++;
        }
        submit(first, second * TASKS_PER_SECOND, random);
      }
      Await.until("all tasks are delivered", BOUND, () -> delivered.get() == tasks);
      others.forEach(Node::leave);
      first.leave();
      departures.forEach(CompletableFuture::join);
    }
    handlers.close();
    int[] late = IntStream.range(0, tasks).map(lateMillis::get).sorted().toArray();
    System.out.printf(Locale.ROOT,
        "[come and go] %d joined, %d left, %d tasks, fired by %d nodes; lateness p50 %d, p99 %d, max %d ms%n",
        joined, left, tasks, firedBy.size(), late[tasks / 2], late[tasks * 99 / 100], late[tasks - 1]);
    assertThat(IntStream.range(0, tasks).filter(number -> deliveries.get(number) != 1)).isEmpty();
    assertThat(late[0]).isNotNegative();
    assertThat(firedBy).hasSizeGreaterThan(2);
  }

  /** Submits the tasks of one second, in ten batches with pauses of 100 ms. */
  private void submit(Node node, int from, SplittableRandom random) {
    int batch = TASKS_PER_SECOND / 10;
    for (int next = from; next < from + TASKS_PER_SECOND; next += batch) {
      List<Submission> submissions = new ArrayList<>();
      for (int number = next; number < next + batch; number++) {
        submissions.add(Submission.after("q", Duration.ofMillis(random.nextInt(MAX_DELAY_MILLIS)),
            Body.json(Integer.toString(number))));
      }
      node.engine.submitAll(submissions).join();
      Await.pause(100);
    }
  }
}
