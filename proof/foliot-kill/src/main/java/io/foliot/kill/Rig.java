package io.foliot.kill;

import io.foliot.api.QueueConfig;
import io.foliot.api.QueueFields;
import io.foliot.api.Retry;
import io.foliot.api.Target;
import io.foliot.api.TaskState;
import io.foliot.backends.Await;
import io.foliot.client.FoliotClient;
import io.foliot.client.RetryPolicy;
import io.foliot.client.TaskPage;
import io.foliot.client.TaskQuery;
import io.foliot.client.TaskView;
import io.foliot.history.Allowances;
import io.foliot.history.Event;
import io.foliot.history.History;
import io.foliot.history.HistoryChecker;
import io.foliot.history.Reply;
import io.foliot.history.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * One or more servers over one store, with a receiver and clients. The calls of each {@link RecordedClient} and all
 * callbacks are recorded in a file below {@code target/kill}.
 */
final class Rig implements AutoCloseable {
  /** Name of a queue without limits. */
  static final String WIDE = "wide";

  /** Name of a queue whose tasks are parked, because few of them may run at a time. */
  static final String NARROW = "narrow";

  /** Name of a queue for tasks that are not recorded. */
  static final String ASIDE = "aside";

  /** The timeout of an attempt. */
  static final Duration TIMEOUT = Duration.ofSeconds(2);

  /**
   * Tolerances for processes that share one clock. On a busy machine it may take 0.5 s until a callback is recorded. An
   * attempt that is not settled is repeated after its lease of 2 + 3 s and a backoff of at most 0.6 s.
   */
  static final Allowances ALLOWANCES = new Allowances(0, 500, TIMEOUT.toMillis(), 3_000, 10_000, false);

  private static final Path FOLDER = Path.of("target", "kill");
  private static final int NARROW_CONCURRENCY = 8;
  private static final int PAGE = 1_000;
  private static final long STEP_MILLIS = 8;
  private static final Duration QUIET_BOUND = Duration.ofMinutes(2);

  /** Longest time until all servers have read the settings of queues. A server reads them once a second. */
  private static final Duration QUEUES_BOUND = Duration.ofSeconds(30);
  private static final List<TaskState> LIVE = List.of(TaskState.DELAYED, TaskState.READY, TaskState.RUNNING);

  final String name;
  final long seed;
  final History history;
  /** The first server. */
  final ServerProcess server;
  final List<ServerProcess> servers;
  final Receiver receiver;
  /** A client of the first server. */
  final RecordedClient client;
  /** Clients without retries, one for each server. */
  private final List<FoliotClient> once;
  private final List<RecordedClient> clients;
  /** A client of the first server, with retries. */
  private final FoliotClient patient;
  private @Nullable Load load;

  /**
   * Starts one server and the receiver, but not the load.
   *
   * @param name the name of the run, for its files
   * @param data the server's folder. The contents that an earlier run with this seed has left are deleted
   */
  Rig(String name, long seed, Path data) throws IOException {
    this(name, seed, List.of(StoreChoice.folder(emptied(data))), List.of(ServerHost.LOOPBACK));
  }

  /**
   * Starts the servers and the receiver, but not the load.
   *
   * @param name the name of the run, for its files
   * @param stores for each server the options by which it reaches the common store, which has no tasks yet
   * @param places for each server the host on which it runs
   */
  Rig(String name, long seed, List<StoreChoice> stores, List<ServerHost> places) throws IOException {
    this.name = name;
    this.seed = seed;
    Files.createDirectories(FOLDER);
    Path file = FOLDER.resolve(name + "-" + seed + ".history");
    Files.deleteIfExists(file);
    Path log = FOLDER.resolve(name + "-" + seed + ".log");
    Files.deleteIfExists(log);
    history = History.in(file);
    servers = IntStream.range(0, stores.size())
        .mapToObj(i -> new ServerProcess(stores.get(i), places.get(i), log)).toList();
    server = servers.getFirst();
    receiver = new Receiver(history, seed, places.getFirst().receiverHost());
    once = servers.stream().map(each -> each.client().retry(RetryPolicy.none()).build()).toList();
    patient = server.client().build();
    clients = once.stream().map(each -> new RecordedClient(each, history)).toList();
    client = clients.getFirst();
    receiver.reportTo(once.getFirst());
    say("seed " + seed + ", history " + file.toAbsolutePath() + ", server's log beside it");
    try {
      servers.forEach(ServerProcess::start);
      servers.forEach(ServerProcess::awaitReady);
      putQueues();
    } catch (Throwable e) {
      close();
      throw e;
    }
  }

  /** Creates the queues, and waits until all servers have read them. */
  void putQueues() {
    QueueConfig wide = QueueConfig.builder(WIDE, Target.http(receiver.url()).with(TIMEOUT))
        .retry(new Retry(1_000, Duration.ofMillis(100), 2.0, Duration.ofMillis(500), 0.2)).build();
    patient.putQueue(wide);
    patient.putQueue(QueueConfig.of(NARROW, wide.values()).with(QueueFields.CONCURRENCY, NARROW_CONCURRENCY));
    patient.putQueue(QueueConfig.of(ASIDE, Target.pull()));
    for (ServerProcess each : servers) {
      Await.until("every server has read the queues", QUEUES_BOUND, () -> each.get("/v1/queues").contains(ASIDE));
    }
  }

  /** Returns the seed of the command line, or a new seed. */
  static long seed() {
    return Long.getLong("seed", System.nanoTime() & 0xFFFF_FFFFL);
  }

  private static Path emptied(Path folder) throws IOException {
    if (Files.exists(folder)) {
      try (Stream<Path> paths = Files.walk(folder)) {
        for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(path);
        }
      }
    }
    return folder;
  }

  /** Returns the data folder of a run, below {@code target/kill}. */
  static Path folder(String name, long seed) {
    return FOLDER.resolve(name + "-" + seed + "-data");
  }

  void say(String text) {
    System.out.println("[" + name + "] " + text);
  }

  /** Starts the load, with a few hundred operations a second. */
  void load() {
    load(STEP_MILLIS);
  }

  /**
   * Starts the load.
   *
   * @param stepMillis the pause of each client between two operations
   */
  void load(long stepMillis) {
    List<Load.Endpoint> endpoints = IntStream.range(0, servers.size())
        .mapToObj(i -> new Load.Endpoint(clients.get(i), servers.get(i)::isUp)).toList();
    load = new Load(endpoints, seed, stepMillis);
  }

  /** Records a fault, and runs the action that causes and heals it. */
  void during(Event.Fault fault, String what, Runnable action) {
    long window = history.faultBegan(System.currentTimeMillis(), fault, what);
    action.run();
    history.faultEnded(window, System.currentTimeMillis());
  }

  /**
   * The result of a run.
   *
   * @param forgotten the ids of acknowledged tasks that the server does not have, and was not permitted to lose
   */
  record Result(Verdict verdict, Set<String> forgotten) {}

  /** Ends the load, waits until all tasks are final, reads their states, and checks the history. */
  Result judge() {
    if (load != null) {
      load.stop();
    }
    receiver.succeedAtOnce();
    Await.until("nothing is under way", QUIET_BOUND, () -> !receiver.hasAcksUnderWay() && !hasLive());
    Set<String> forgotten = readFinalStates();
    Verdict verdict = check();
    if (verdict.counts().open() > 0) {
      // A missing delivery may still arrive within the grace time.
      Await.pause(ALLOWANCES.graceMillis() + 1);
      verdict = check();
    }
    say(verdict.toString().stripTrailing().replace(System.lineSeparator(), System.lineSeparator() + "[" + name + "] "));
    return new Result(verdict, forgotten);
  }

  private boolean hasLive() {
    return List.of(WIDE, NARROW).stream().anyMatch(queue -> LIVE.stream().anyMatch(state -> client.has(queue, state)));
  }

  private Verdict check() {
    history.runEnded(System.currentTimeMillis());
    return new HistoryChecker(ALLOWANCES).check(history);
  }

  /**
   * Reads and records the final states of all tasks. The server keeps final tasks for at least an hour.
   *
   * @return the ids of acknowledged tasks that were lost although no {@link Event.Forgot} permits the loss
   */
  private Set<String> readFinalStates() {
    Set<String> forgotten = new HashSet<>();
    List<Event> events = history.events();
    for (Event event : events) {
      if (event instanceof Event.Answered answered && answered.reply() instanceof Reply.Placed placed) {
        forgotten.add(placed.taskId());
      }
    }
    for (Event event : events) {
      if (event instanceof Event.Forgot(long atMillis, long fromMillis)) {
        forgotten.removeAll(firstAcked(events, fromMillis, atMillis + ALLOWANCES.transitMillis()));
      }
    }
    for (String queue : List.of(WIDE, NARROW)) {
      String cursor = null;
      do {
        long invokedMillis = System.currentTimeMillis();
        TaskPage page = patient.listTasks(queue, TaskQuery.all(), PAGE, cursor);
        for (TaskView task : page.tasks()) {
          client.listed(invokedMillis, task);
          forgotten.remove(task.id());
        }
        cursor = page.nextCursor();
      } while (cursor != null);
    }
    // The remaining tasks are read by id, which records those that are not found.
    forgotten.removeIf(id -> client.read(id) != null);
    return forgotten;
  }

  /** Returns the ids of the tasks that were first acknowledged between two instants, both inclusive. */
  private static Set<String> firstAcked(List<Event> events, long fromMillis, long toMillis) {
    Set<String> earlier = new HashSet<>();
    Set<String> between = new HashSet<>();
    for (Event event : events) {
      if (event instanceof Event.Answered answered && answered.reply() instanceof Reply.Placed placed) {
        if (event.atMillis() < fromMillis) {
          earlier.add(placed.taskId());
        } else if (event.atMillis() <= toMillis) {
          between.add(placed.taskId());
        }
      }
    }
    between.removeAll(earlier);
    return between;
  }

  @Override
  public void close() throws IOException {
    servers.forEach(ServerProcess::close);
    receiver.close();
    once.forEach(FoliotClient::close);
    patient.close();
    history.close();
  }
}
