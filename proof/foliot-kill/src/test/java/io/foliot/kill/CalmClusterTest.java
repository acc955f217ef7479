package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.backends.Await;
import io.foliot.backends.PostgresServer;
import io.foliot.client.BatchResult;
import io.foliot.client.FoliotClient;
import io.foliot.client.FoliotException;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.RetryPolicy;
import io.foliot.client.SubmittedTask;
import io.foliot.client.TaskQuery;
import io.foliot.client.UnreachableException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/**
 * Three servers over one PostgreSQL without faults: each task must arrive exactly once, even while servers are
 * restarted in turn. {@code -Ddeliveries=n} sets the number of tasks of the test without restarts, and
 * {@code -Drestarts=n} the number of restarts.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("long")
class CalmClusterTest {
  private static final int SERVERS = 3;
  private static final int DELIVERIES = Integer.getInteger("deliveries", 10_000);
  private static final int RESTARTS = Integer.getInteger("restarts", 3);
  private static final String QUEUE = "calm";

  /** Problem type in the answer of a server that has begun to stop and has not carried out the request. */
  private static final String NOT_READY = "urn:foliot:problem:not-ready";
  private static final List<TaskState> LIVE = List.of(TaskState.DELAYED, TaskState.READY, TaskState.RUNNING);
  private static final int BATCH = 500;

  /** Maximum number of tasks under way. At this number the load pauses, so that a slow machine is not overloaded. */
  private static final int MAX_WAITING = 10_000;
  private static final int MAX_DELAY_MILLIS = 2_000;

  /** Tasks of a batch while servers are restarted. With one batch per step, the load is up to 500 tasks a second. */
  private static final int SMALL_BATCH = 10;
  private static final long STEP_MILLIS = 20;
  /** Time of load before the first restart and after each restart. */
  private static final long SETTLED_MILLIS = 1_500;
  private static final int MAX_TASKS = 1_000_000;
  private static final Duration BOUND = Duration.ofMinutes(2);

  private PostgresServer store;
  private List<ServerProcess> servers;
  private List<FoliotClient> clients;

  @BeforeAll
  void start() throws IOException {
    Path folder = Files.createDirectories(Path.of("target", "kill"));
    Path log = folder.resolve("calm.log");
    Files.deleteIfExists(log);
    store = PostgresServer.start();
    StoreChoice choice = StoreChoice.database(store.createDatabase());
    servers = IntStream.range(0, SERVERS).mapToObj(i -> new ServerProcess(choice, ServerHost.LOOPBACK, log)).toList();
    servers.forEach(ServerProcess::start);
    servers.forEach(ServerProcess::awaitReady);
    clients = servers.stream().map(server -> FoliotClient.builder(server.url()).retry(RetryPolicy.none()).build())
        .toList();
  }

  @AfterAll
  void stop() {
    clients.forEach(FoliotClient::close);
    servers.forEach(ServerProcess::close);
    store.close();
  }

  @Test
  void eachDeliveryArrivesOnce() {
    try (CountingReceiver receiver = new CountingReceiver(DELIVERIES)) {
      put(receiver);
      SplittableRandom random = new SplittableRandom();
      long begun = System.nanoTime();
      long reported = begun;
      for (int next = 0; next < DELIVERIES; next += BATCH) {
        int first = next;
        Await.until("there is room for more", BOUND, () -> first - receiver.arrived() < MAX_WAITING);
        submit("many", clients.get(first / BATCH % SERVERS), first, Math.min(first + BATCH, DELIVERIES), random);
        if (System.nanoTime() - reported > BOUND.toNanos() / 4) {
          reported = System.nanoTime();
          say(receiver.arrived() + " of " + DELIVERIES + " have arrived");
        }
      }
      Await.until("all tasks have arrived", BOUND, () -> receiver.arrived() == DELIVERIES);
      say(DELIVERIES + " in " + Duration.ofNanos(System.nanoTime() - begun).toMillis() + " ms");
      judge(receiver, DELIVERIES);
    }
  }

  @Test
  void aRollingRestartRepeatsNoDelivery() {
    try (CountingReceiver receiver = new CountingReceiver(MAX_TASKS)) {
      put(receiver);
      Stream load = new Stream();
      load.runs(SETTLED_MILLIS);
      int quiet = load.next;
      for (int i = 0; i < RESTARTS; i++) {
        ServerProcess server = servers.get(i % SERVERS);
        CompletableFuture<Void> replaced = CompletableFuture.runAsync(() -> {
          server.stop();
          server.start();
          server.awaitReady();
        });
        do {
          load.runs(STEP_MILLIS);
        } while (!replaced.isDone());
        replaced.join();
        load.runs(SETTLED_MILLIS);
      }
      int tasks = load.next;
      Await.until("all tasks have arrived", BOUND, () -> receiver.arrived() == tasks);
      say("before: " + lateness(receiver, 0, quiet));
      say(RESTARTS + " servers replaced: " + lateness(receiver, quiet, tasks));
      judge(receiver, tasks);
    }
  }

  /** A stream of tasks to the servers that are up. */
  private final class Stream {
    private final SplittableRandom random = new SplittableRandom();
    private int next;

    void runs(long millis) {
      for (long passed = 0; passed < millis; passed += STEP_MILLIS) {
        submit();
        next += SMALL_BATCH;
        Await.pause(STEP_MILLIS);
      }
    }

    /** Submits to the next server that is up, or to a different one if that server has just begun to stop. */
    private void submit() {
      RuntimeException refused = null;
      for (int i = 0; i < 2 * SERVERS; i++) {
        int server = (next / SMALL_BATCH + i) % SERVERS;
        try {
          if (servers.get(server).isUp()) {
            CalmClusterTest.submit("stream", clients.get(server), next, next + SMALL_BATCH, random);
            return;
          }
        } catch (UnreachableException e) {
          refused = e;
        } catch (FoliotException e) {
          if (!e.type().equals(NOT_READY)) {
            throw e;
          }
          refused = e;
        }
      }
      throw new AssertionError("no server accepts tasks", refused);
    }
  }

  private void put(CountingReceiver receiver) {
    clients.getFirst().putQueue(QueueConfig.of(QUEUE, Target.http(receiver.url())));
    for (ServerProcess server : servers) {
      Await.until("every server has read the queue", BOUND,
          () -> server.get("/v1/queues/" + QUEUE).contains(receiver.url().toString()));
    }
  }

  /** Submits a batch. Each task has an idempotency key, so that the batch may be repeated. */
  private static void submit(String name, FoliotClient client, int from, int to, SplittableRandom random) {
    List<NewTask> tasks = new ArrayList<>();
    for (int number = from; number < to; number++) {
      tasks.add(NewTask.builder().delay(Duration.ofMillis(random.nextInt(MAX_DELAY_MILLIS)))
          .payload(Payload.json(Integer.toString(number))).idempotencyKey(name + "-" + number).build());
    }
    List<BatchResult> results = client.submitBatch(QUEUE, tasks);
    assertThat(results).hasSize(to - from).allSatisfy(result -> assertThat(result).isInstanceOf(SubmittedTask.class));
  }

  private static String lateness(CountingReceiver receiver, int from, int to) {
    int[] late = IntStream.range(from, to).map(receiver::lateMillis).sorted().toArray();
    return String.format(Locale.ROOT, "%d tasks, late by p50 %d, p99 %d, most %d ms", late.length,
        late[late.length / 2],
        late[late.length * 99 / 100], Arrays.stream(late).max().orElseThrow());
  }

  private void judge(CountingReceiver receiver, int tasks) {
    say(lateness(receiver, 0, tasks));
    // A task that was not settled is delivered again when its lease ends; a final task is not.
    Await.until("all tasks are final", BOUND, () -> LIVE.stream()
        .allMatch(
            state -> clients.getFirst().listTasks(QUEUE, TaskQuery.all().inState(state), 1, null).tasks().isEmpty()));
    assertThat(IntStream.range(0, tasks).filter(number -> receiver.times(number) != 1)).isEmpty();
    assertThat(IntStream.range(0, tasks).filter(number -> receiver.lateMillis(number) < 0)).isEmpty();
  }

  private static void say(String text) {
    System.out.println("[calm] " + text);
  }
}
