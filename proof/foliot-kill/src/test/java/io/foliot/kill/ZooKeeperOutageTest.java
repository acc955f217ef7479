package io.foliot.kill;

import static org.assertj.core.api.Assertions.assertThat;

import io.foliot.api.QueueConfig;
import io.foliot.api.Target;
import io.foliot.backends.Await;
import io.foliot.backends.PostgresServer;
import io.foliot.backends.TcpProxy;
import io.foliot.client.FoliotClient;
import io.foliot.client.NewTask;
import io.foliot.client.Payload;
import io.foliot.client.RetryPolicy;
import io.foliot.client.UnknownOutcomeException;
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
import java.util.stream.IntStream;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three servers over one PostgreSQL, under load. ZooKeeper does not answer for some time; in one test a server is
 * killed during this time. Each task is due at least 2 s after its submit. Servers read only 1 s ahead, so the owner of
 * a task's slot must fire the task. For an outage of 60 s:
 * {@code mvn verify -Plong -pl :foliot-kill -am -Dtest=ZooKeeperOutageTest -Dsurefire.failIfNoSpecifiedTests=false
 * -Daway=60}.
 */
@Tag("long")
class ZooKeeperOutageTest {
  private static final int SERVERS = 3;
  private static final Duration AWAY = Duration.ofSeconds(Integer.getInteger("away", 20));
  private static final Duration CALM = Duration.ofSeconds(6);
  /** Length of the outage before one server is killed: longer than a session. */
  private static final Duration BEFORE_KILL = Duration.ofSeconds(6);
  private static final String WINDOW = "1s";
  private static final int MIN_DELAY_MILLIS = 2_000;
  private static final int MAX_DELAY_MILLIS = 5_000;

  private static final int BATCH = 10;
  private static final long STEP_MILLIS = 25;
  private static final int MAX_TASKS = 1_000_000;
  private static final Duration BOUND = Duration.ofMinutes(2);
  private static final String QUEUE = "outage";

  /** A task that only the overdue poll finds is at least this late. */
  private static final int POLLED_MILLIS = 1_000;
  /**
   * Share of the tasks of half a server. If a server loses its slots, or those of a killed server have no owner, only
   * the overdue poll finds twice as many.
   */
  private static final double HALF_A_SERVER = 0.5 / SERVERS;
  /**
   * Bound of the greatest lateness, beside the greatest lateness before the outage. Other servers must also take over
   * from a killed server within this time.
   */
  private static final int COVERED_MILLIS = 5_000;

  @TempDir
  private Path folder = Path.of("");
  private final SplittableRandom random = new SplittableRandom();
  private PostgresServer store;
  private TestingServer zooKeeper;
  private TcpProxy entrance;
  private CountingReceiver receiver;
  private List<ServerProcess> servers = List.of();
  private List<FoliotClient> clients = List.of();
  private int next;
  /** Due time of each task by the clock of this machine; the index is the number of the task. */
  private final List<Long> dueMillis = new ArrayList<>();

  @BeforeEach
  void start() throws IOException {
    Path log = Files.createDirectories(Path.of("target", "kill")).resolve("zookeeper-outage.log");
    Files.deleteIfExists(log);
    store = PostgresServer.start();
    zooKeeper = ZooKeeperClusterFaultsTest.zooKeeper(folder);
    entrance = TcpProxy.to(zooKeeper.getPort());
    receiver = new CountingReceiver(MAX_TASKS);
    StoreChoice choice = StoreChoice.database(store.createDatabase())
        .with("--cluster", "zookeeper://127.0.0.1:" + entrance.port()).with("--engine-window", WINDOW);
    servers = IntStream.range(0, SERVERS).mapToObj(i -> new ServerProcess(choice, ServerHost.LOOPBACK, log)).toList();
    servers.forEach(ServerProcess::start);
    servers.forEach(ServerProcess::awaitReady);
    clients = servers.stream().map(server -> FoliotClient.builder(server.url()).retry(RetryPolicy.none()).build())
        .toList();
    clients.getFirst().putQueue(QueueConfig.of(QUEUE, Target.http(receiver.url())));
    for (ServerProcess server : servers) {
      Await.until("every server has read the queue", BOUND,
          () -> server.get("/v1/queues/" + QUEUE).contains(receiver.url().toString()));
    }
  }

  @AfterEach
  void stop() throws IOException {
    clients.forEach(FoliotClient::close);
    servers.forEach(ServerProcess::close);
    receiver.close();
    entrance.close();
    zooKeeper.close();
    store.close();
  }

  @Test
  void nearlyAllTasksAreOnTimeWithASilentZooKeeper() {
    nothingIsLate(() -> entrance.blackHole());
  }

  @Test
  void nearlyAllTasksAreOnTimeWithoutZooKeeper() {
    nothingIsLate(() -> {
      entrance.refuse();
      entrance.cut();
    });
  }

  private void nothingIsLate(Runnable breaks) {
    submitFor(CALM);
    long awayMillis = System.currentTimeMillis();
    breaks.run();
    submitFor(AWAY);
    long backMillis = System.currentTimeMillis();
    entrance.heal();
    submitFor(CALM.multipliedBy(2));
    awaitAll();
    int[] calm = late("calm", 0, awayMillis);
    int[] away = late("away", awayMillis, backMillis);
    int[] after = late("back", backMillis, Long.MAX_VALUE);
    assertThat(polled(away)).isLessThan(polled(calm) + HALF_A_SERVER);
    assertThat(polled(after)).isLessThan(polled(calm) + HALF_A_SERVER);
    assertThat(most(away)).isLessThan(most(calm) + COVERED_MILLIS);
    assertThat(most(after)).isLessThan(most(calm) + COVERED_MILLIS);
  }

  @Test
  void slotsOfAKilledServerAreCoveredWithinSeconds() {
    submitFor(CALM);
    long awayMillis = System.currentTimeMillis();
    entrance.blackHole();
    submitFor(BEFORE_KILL);
    long killMillis = System.currentTimeMillis();
    servers.getLast().kill();
    submitFor(AWAY);
    long backMillis = System.currentTimeMillis();
    entrance.heal();
    submitFor(CALM.multipliedBy(2));
    awaitAll();
    int[] calm = late("calm", 0, awayMillis);
    late("away", awayMillis, killMillis);
    long coveredMillis = killMillis + COVERED_MILLIS;
    int[] killed = late("killed", killMillis, coveredMillis);
    int[] covered = late("covered", coveredMillis, backMillis);
    int[] after = late("back", backMillis, Long.MAX_VALUE);
    assertThat(most(killed)).isLessThan(most(calm) + COVERED_MILLIS);
    assertThat(polled(covered)).isLessThan(polled(calm) + HALF_A_SERVER);
    assertThat(most(covered)).isLessThan(most(calm) + COVERED_MILLIS);
    assertThat(most(after)).isLessThan(most(calm) + COVERED_MILLIS);
  }

  private void submitFor(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    while (System.nanoTime() - end < 0) {
      submit();
      Await.pause(STEP_MILLIS);
    }
  }

  /** Submits a batch to the next server in turn that accepts it. */
  private void submit() {
    List<NewTask> tasks = new ArrayList<>();
    for (int number = next; number < next + BATCH; number++) {
      int delayMillis = random.nextInt(MIN_DELAY_MILLIS, MAX_DELAY_MILLIS);
      dueMillis.add(System.currentTimeMillis() + delayMillis);
      tasks.add(NewTask.builder().delay(Duration.ofMillis(delayMillis)).payload(Payload.json(Integer.toString(number)))
          .idempotencyKey("outage-" + number).build());
    }
    RuntimeException refused = null;
    for (int i = 0; i < SERVERS; i++) {
      int server = (next / BATCH + i) % SERVERS;
      try {
        if (servers.get(server).isUp()) {
          assertThat(clients.get(server).submitBatch(QUEUE, tasks)).hasSize(BATCH);
          next += BATCH;
          return;
        }
      } catch (UnreachableException | UnknownOutcomeException e) {
        refused = e;
      }
    }
    throw new AssertionError("no server accepts tasks", refused);
  }

  private void awaitAll() {
    Await.until("all tasks have arrived", BOUND, () -> receiver.arrived() == next);
  }

  /**
   * Returns the lateness of the tasks that are due in a period, in milliseconds and in ascending order. Tasks with a
   * second attempt are left out, because the killed server may have claimed them on time.
   *
   * @param fromMillis the beginning of the period, inclusive
   * @param toMillis the end of the period, exclusive
   */
  private int[] late(String phase, long fromMillis, long toMillis) {
    int[] late = IntStream.range(0, next).filter(number -> receiver.attempt(number) == 1)
        .filter(number -> dueMillis.get(number) >= fromMillis && dueMillis.get(number) < toMillis)
        .map(receiver::lateMillis).sorted().toArray();
    System.out.printf(Locale.ROOT, "[zookeeper-outage] %s: %d tasks, late by p50 %d, p99 %d, most %d ms%n", phase,
        late.length, late[late.length / 2], p99(late), most(late));
    return late;
  }

  /** Returns the share of tasks that may have been found by the overdue poll only. */
  private static double polled(int[] late) {
    return Arrays.stream(late).filter(millis -> millis >= POLLED_MILLIS).count() / (double) late.length;
  }

  private static int p99(int[] sorted) {
    return sorted[sorted.length * 99 / 100];
  }

  private static int most(int[] sorted) {
    return Arrays.stream(sorted).max().orElseThrow();
  }
}
