package io.foliot.kill;

import io.foliot.backends.Await;
import io.foliot.client.Delivery;
import io.foliot.client.FoliotClient;
import io.foliot.client.QueueSettings;
import io.foliot.client.RetryPolicy;
import io.foliot.client.TaskPage;
import io.foliot.client.TaskState;
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
 * A server or several over one store, a receiver, and clients, with everything recorded in a file below
 * {@code target/kill}.
 */
final class Rig implements AutoCloseable {
  /** A queue that nothing holds back. */
  static final String WIDE = "wide";

  /** A queue whose tasks are parked, because few may run at a time. */
  static final String NARROW = "narrow";

  /** A queue for tasks that are not recorded. */
  static final String ASIDE = "aside";

  /** The timeout of an attempt. */
  static final Duration TIMEOUT = Duration.ofSeconds(2);

  /**
   * One clock. On a busy machine a callback may be half a second on its way into the log. An attempt without a
   * report is repeated after 2 + 3 s and a backoff of at most 0.6 s.
   */
  static final Allowances ALLOWANCES = new Allowances(0, 500, TIMEOUT.toMillis(), 3_000, 10_000, false);

  private static final Path FOLDER = Path.of("target", "kill");
  private static final int NARROW_CONCURRENCY = 8;
  private static final int PAGE = 1_000;
  private static final long STEP_MILLIS = 8;
  private static final Duration QUIET_BOUND = Duration.ofMinutes(2);

  /** Servers read the settings of queues once a second. */
  private static final Duration QUEUES_BOUND = Duration.ofSeconds(30);
  private static final List<TaskState> LIVE = List.of(TaskState.DELAYED, TaskState.READY, TaskState.RUNNING);

  final String name;
  final long seed;
  final History history;
  /** The only server, or the first. */
  final ServerProcess server;
  final List<ServerProcess> servers;
  final Receiver receiver;
  /** A client of the first server. */
  final RecordedClient client;
  private final List<FoliotClient> once;
  private final List<RecordedClient> clients;
  private final FoliotClient patient;
  private @Nullable Load load;

  /**
   * Starts all but the load, with one server.
   *
   * @param name the name of the run, for its files
   * @param data the server's folder; the remains of an earlier run with this seed are deleted, so that its answers do
   *     not count
   */
  Rig(String name, long seed, Path data) throws IOException {
    this(name, seed, List.of(StoreChoice.folder(emptied(data))), List.of(ServerHost.LOOPBACK));
  }

  /**
   * Starts all but the load.
   *
   * @param name the name of the run, for its files
   * @param stores for each server the way to the store where all of them keep their tasks; there are none yet
   * @param places for each server where it runs
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

  /** Ensures that all servers know the queues. */
  void putQueues() {
    QueueSettings settings = QueueSettings
        .builder(Delivery.http(receiver.url()).toBuilder().setting("timeout", TIMEOUT).build())
        .retry(new QueueSettings.Retry(1_000, Duration.ofMillis(100), 2.0, Duration.ofMillis(500), 0.2)).build();
    patient.putQueue(WIDE, settings);
    patient.putQueue(NARROW, settings.toBuilder().concurrency(NARROW_CONCURRENCY).build());
    patient.putQueue(ASIDE, QueueSettings.of(Delivery.pull()));
    for (ServerProcess each : servers) {
      Await.until("every server knows the queues", QUEUES_BOUND, () -> each.get("/v1/queues").contains(ASIDE));
    }
  }

  /** The seed that the command line gives, or else a new one. */
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

  /** A folder of a run below {@code target/kill}. */
  static Path folder(String name, long seed) {
    return FOLDER.resolve(name + "-" + seed + "-data");
  }

  void say(String text) {
    System.out.println("[" + name + "] " + text);
  }

  /** A few hundred operations a second. */
  void load() {
    load(STEP_MILLIS);
  }

  /** @param stepMillis the step of {@link Load} */
  void load(long stepMillis) {
    List<Load.Door> doors = IntStream.range(0, servers.size())
        .mapToObj(i -> new Load.Door(clients.get(i), servers.get(i)::isUp)).toList();
    load = new Load(doors, seed, stepMillis);
  }

  /** Records that something is about to be broken, breaks it, and mends it. */
  void during(Event.Fault fault, String what, Runnable trouble) {
    long window = history.faultBegan(System.currentTimeMillis(), fault, what);
    trouble.run();
    history.faultEnded(window, System.currentTimeMillis());
  }

  /** The result of a run. */
  record Result(Verdict verdict, Set<String> forgotten) {}

  /** Ends the load, waits until all tasks have ended, reads their ends, and judges. */
  Result judge() {
    if (load != null) {
      load.stop();
    }
    receiver.beKind();
    Await.until("nothing is under way", QUIET_BOUND, () -> !receiver.hasAcksUnderWay() && !hasLive());
    Set<String> forgotten = readFinalStates();
    Verdict verdict = check();
    if (verdict.counts().open() > 0) {
      // Longest time for which a missing delivery may be under way.
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

  /** @return acknowledged tasks that the server does not know; it keeps all for an hour */
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
        forgotten.removeAll(firstToldOf(events, fromMillis, atMillis + ALLOWANCES.transitMillis()));
      }
    }
    for (String queue : List.of(WIDE, NARROW)) {
      String cursor = null;
      do {
        long invokedMillis = System.currentTimeMillis();
        TaskPage page = patient.listTasks(queue, null, PAGE, cursor);
        for (TaskView task : page.tasks()) {
          client.listed(invokedMillis, task);
          forgotten.remove(task.id());
        }
        cursor = page.nextCursor();
      } while (cursor != null);
    }
    // Read by name, and recorded as not found.
    forgotten.removeIf(id -> client.read(id) != null);
    return forgotten;
  }

  /** Tasks that were first acknowledged between two instants. */
  private static Set<String> firstToldOf(List<Event> events, long fromMillis, long toMillis) {
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
