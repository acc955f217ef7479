package io.foliot.server;

import io.foliot.core.Scheduler;
import io.foliot.core.SystemClock;
import io.foliot.core.TimeSource;
import io.foliot.core.store.Backups;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.StoreStatistics;
import io.foliot.core.store.TaskStore;
import io.foliot.server.api.AnswerMemory;
import io.foliot.server.api.Api;
import io.foliot.server.api.ApiLimits;
import io.foliot.server.api.Bodies;
import io.foliot.server.api.Cursors;
import io.foliot.server.api.ServerInfo;
import io.foliot.server.config.FoliotConfig;
import io.foliot.server.metrics.LatePasses;
import io.foliot.server.metrics.Prometheus;
import io.foliot.server.security.Action;
import io.foliot.server.security.ApiKey;
import io.foliot.server.security.Gate;
import io.foliot.server.security.KeyRing;
import io.foliot.server.security.QueuePattern;
import io.foliot.server.security.StoredKeys;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A server in this process. */
public final class FoliotServer implements AutoCloseable {
  private static final Logger log = LoggerFactory.getLogger(FoliotServer.class);
  /**
   * All answers to reads together may use the heap divided by this number; all answers to writes may use as much again.
   */
  private static final int ANSWERS_OF_HEAP = 8;
  /** Pause between two reads of the API keys. */
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);
  /** A server whose readiness was checked within this time is assumed to be behind a balancer. */
  private static final Duration CHECKED_WITHIN = Duration.ofMinutes(1);
  private static final long DRAIN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
  /** Id of the administrator's key that the configuration sets. No key in the store can have this id. */
  private static final String CONFIGURED_ID = "configured";

  private final FoliotConfig config;
  private final ServerRuntime runtime;
  private final Prometheus prometheus;
  private final Api api;
  private final HttpListener listener;
  private final Gate gate;
  private final CompletableFuture<Throwable> failure;
  private final @Nullable Thread refresher;
  private final CommitPulse pulse;
  private final StoreIdentity identity;
  private final LatePasses latePasses;
  private final Cursors cursors;
  private final Watchdog watchdog;

  // guarded by this
  private boolean stopped;

  private FoliotServer(FoliotConfig config, InetAddress address, ServerRuntime runtime, Prometheus prometheus,
      CompletableFuture<Throwable> failure, TimeSource clock, SecureRandom random, PrintStream out) {
    this.config = config;
    this.runtime = runtime;
    this.prometheus = prometheus;
    this.failure = failure;
    latePasses = prometheus.meter().latePasses();
    // A store in memory keeps nothing, so each of its starts is a first start.
    boolean keeps = runtime.store().isShared() || config.store().hasFolder();
    identity = StoreIdentity.of(runtime.store(), random, keeps ? config.store().data() : null,
        config.listen().callTimeout());
    KeyRing keys = keys(config, address.isLoopbackAddress(), runtime.store(),
        new KeysRequiredFile(keeps ? config.store().data() : null, identity));
    gate = new Gate(keys, address.isLoopbackAddress(), config.security().mayOpen(), config.listen().host());
    if (!gate.isOpen() && keys.isEmpty()) {
      issueFirstKey(keys, random, Instant.ofEpochMilli(clock.wallMillis()), out);
    }
    // Kept last: if this start fails before its first key is recorded, the store is still unknown to the next start.
    identity.keep();
    identity.onAdopted(() -> {
      Thread unused = Thread.ofVirtual().name("foliot-adoption").start(() -> adopted(keys, clock, random, out));
    });
    pulse = new CommitPulse(runtime.store(), runtime.scheduler().cluster().node());
    ApiLimits limits = new ApiLimits(config.limits().bodyBytes(), config.limits().batchBytes(),
        config.listen().callTimeout());
    ServerInfo info = new ServerInfo(version(), prometheus::scrape,
        runtime.store().capability(Backups.class).orElse(null), config.store().backups(),
        this::troubles, this::warnings);
    cursors = new Cursors(cursorSecret(random), random);
    api = new Api(new Api.Parts(runtime.scheduler(), runtime.jobs(), clock, random, gate, keys, limits, cursors, info));
    Bodies bodies = new Bodies(config.limits().waitingBytes());
    long answerBytes = Math.min(config.limits().answerBytes(), Runtime.getRuntime().maxMemory() / ANSWERS_OF_HEAP);
    AnswerMemory reads = new AnswerMemory(answerBytes);
    AnswerMemory writes = new AnswerMemory(answerBytes);
    prometheus.gauge("foliot.http.answers.bytes", "Memory of answers that list or show tasks", reads::held);
    prometheus.gauge("foliot.http.bodies.bytes", "Memory of the bodies of requests under way", bodies::held);
    prometheus.gauge("foliot.store.failed", "1 once the store has closed itself, or the server has failed otherwise",
        () -> failure.isDone() ? 1 : 0);
    prometheus.gauge("foliot.store.losses", "How often the store has lost its identity while this server ran",
        identity::losses);
    prometheus.gauge("foliot.ready", "1 if /health/ready returns 200, else 0", () -> api.isReady() ? 1 : 0);
    Scheduler scheduler = runtime.scheduler();
    prometheus.gauge("foliot.slots.owned", "Slots that this node owns",
        () -> scheduler.cluster().ownedSlots());
    prometheus.gauge("foliot.clock.offset.seconds", "By how much the store's clock is ahead of this node's",
        () -> scheduler.cluster().clockOffsetMicros() / 1e6);
    prometheus.gauge("foliot.jobs.ahead", "Jobs that were planned while the store's clock was ahead, and not since",
        () -> prometheus.meter().jobsAhead());
    prometheus.build(version());
    prometheus.watch(scheduler);
    runtime.store().capability(StoreStatistics.class).ifPresent(statistics -> prometheus
        .beforeReading(new StoreFigures(statistics, prometheus.registry())::refresh));
    try {
      listener = new HttpListener(new HttpListener.Frame(new InetSocketAddress(address, config.listen().port()),
          config.limits().batchBytes(), connections(config), config.listen().clientTimeout()), api,
          new HttpListener.Memory(bodies, reads, writes), prometheus.timings(), this::failed);
    } catch (RuntimeException e) {
      api.close();
      throw e;
    }
    watchdog = new Watchdog(pulse, identity, new InetSocketAddress(address, listener.port()), listener::accepts,
        this::failed);
    CompletableFuture<?> unused = scheduler.failure().thenAccept(this::failed);
    refresher = runtime.store().isShared()
        ? Thread.ofVirtual().name("foliot-keys").start(() -> refresh(keys))
        : null;
  }

  /** Reads the keys, and decides whether the server needs them; see {@code Option.ACCESS}. */
  private static KeyRing keys(FoliotConfig config, boolean isLoopback, TaskStore store,
      KeysRequiredFile file) {
    KeyRing.Vault vault = new StoredKeys(store, config.listen().callTimeout());
    ApiKey configured = configuredKey(config);
    boolean isEmpty = configured == null && vault.all().isEmpty();
    if (isEmpty && file.isSet()) {
      if (config.security().mayOpen()) {
        file.clear();
      } else {
        log.error("this server has had API keys, and its store has none: either this is another store, or the store has"
            + " lost its content. Every call needs a key nevertheless, and the server makes a new first key. To open"
            + " the server to this machine, start it with --access open (security.access): file={}", file);
      }
    }
    boolean isRequired = !isLoopback || config.security().needsKeys();
    return new KeyRing(vault, configured, isRequired ? file.alwaysSet() : file);
  }

  private byte[] cursorSecret(SecureRandom random) {
    return StoreIdentity.cursorSecret(runtime.store(), random, config.listen().callTimeout());
  }

  /**
   * Records the store that this server has adopted while it ran. If the server needs keys, and the store has none,
   * makes a new first key, as a start does. Several servers that adopt a store at the same time may make a key each.
   */
  private void adopted(KeyRing keys, TimeSource clock, SecureRandom random, PrintStream out) {
    try {
      boolean unused = keys.refresh();
      if (!gate.isOpen() && keys.isEmpty()) {
        issueFirstKey(keys, random, Instant.ofEpochMilli(clock.wallMillis()), out);
      }
      identity.keep();
      cursors.replace(cursorSecret(random));
    } catch (RuntimeException e) {
      log.error(
          "cannot prepare the store that was adopted; restart this server, which makes a first API key: reason={}",
          e.toString());
    }
  }

  /**
   * Reads the API keys every second, because other servers create and delete keys. While the store does not answer,
   * this server keeps the keys that it has read before.
   */
  private static void refresh(KeyRing keys) {
    boolean answered = true;
    while (!Thread.currentThread().isInterrupted()) {
      LockSupport.parkNanos(REFRESH_NANOS);
      try {
        boolean haveGone = keys.refresh();
        answered = true;
        if (haveGone) {
          log.error(
              "the API keys have gone from the store; every call is refused until the store has them again. If the"
                  + " store has lost its content, this server makes a new first key when it adopts the store");
        }
      } catch (RuntimeException e) {
        if (answered) {
          log.warn("cannot refresh API keys; keeping the last known ones: reason={}", e.getMessage());
        }
        answered = false;
      }
    }
  }

  /**
   * Starts a server.
   *
   * @param out receives the first API key, if one is issued, with instructions for the operator
   * @throws StartException if the server cannot start for a reason that the operator can cure
   */
  public static FoliotServer start(FoliotConfig config, PrintStream out) {
    TimeSource clock = new SystemClock();
    SecureRandom random = new SecureRandom();
    InetAddress address = address(config.listen().host());
    HttpListener.ensureFree(new InetSocketAddress(address, config.listen().port()));
    CompletableFuture<Throwable> failure = new CompletableFuture<>();
    Prometheus prometheus = new Prometheus(config.limits().metricQueues());
    ServerRuntime runtime = ServerRuntime.open(config, address.isLoopbackAddress(), clock, prometheus.meter(),
        prometheus.meter(), random,
        e -> {
          log.error("the store has closed itself; nothing is accepted or delivered any more; remove the cause, then"
              + " start again", e);
          failure.complete(e);
        });
    return start(config, runtime, prometheus, failure, clock, random, out);
  }

  /** Starts a server with an open runtime. If the start fails, the runtime is closed. */
  static FoliotServer start(FoliotConfig config, ServerRuntime runtime, Prometheus prometheus,
      CompletableFuture<Throwable> failure, TimeSource clock, SecureRandom random, PrintStream out) {
    try {
      FoliotServer server = new FoliotServer(config, address(config.listen().host()), runtime, prometheus, failure,
          clock,
          random, out);
      server.logStart();
      return server;
    } catch (RuntimeException e) {
      runtime.scheduler().stop(Duration.ZERO).join();
      runtime.store().close();
      prometheus.close();
      throw e;
    }
  }

  private static InetAddress address(String host) {
    try {
      return InetAddress.getByName(host);
    } catch (UnknownHostException e) {
      throw new StartException(StartException.Reason.CANNOT_BIND, "there is no address for the name " + host
          + ". Choose an address of this machine with --host (server.host): 127.0.0.1 for this machine only, 0.0.0.0 for"
          + " all networks", e);
    }
  }

  private static @Nullable ApiKey configuredKey(FoliotConfig config) {
    return config.security().adminKeyHash().isEmpty()
        ? null
        : new ApiKey(CONFIGURED_ID, HexFormat.of().parseHex(config.security().adminKeyHash()), EnumSet.of(Action.ADMIN),
            List.of(QueuePattern.ALL), "", Instant.EPOCH, null);
  }

  private static void issueFirstKey(KeyRing keys, SecureRandom random, Instant now, PrintStream out) {
    ApiKey.Issued issued = ApiKey.issue(random, EnumSet.of(Action.ADMIN), List.of(QueuePattern.ALL),
        "made at the first start", now, null);
    keys.add(issued.key(), now);
    out.println(
        "The server needs API keys, because it can be reached from other machines, has had keys before, or is set"
            + " to need them. This is the first one; it may do everything, and is shown only now:");
    out.println();
    out.println("  " + issued.text());
    out.println();
    out.println("Send it as  Authorization: Bearer flt_...  Make others with foliot keys create (POST /v1/keys).");
    out.flush();
  }

  private void logStart() {
    var durability = runtime.store().durability();
    log.atInfo().addKeyValue("version", version()).addKeyValue("address", url())
        .addKeyValue("store", runtime.store().kind())
        .addKeyValue("durability", durability.durabilityClass())
        .addKeyValue("node", runtime.scheduler().cluster().node())
        .addKeyValue("access", gate.isOpen() ? "open to this machine" : "API keys").log("Foliot serves");
  }

  /** Returns the version of Foliot. */
  public static String version() {
    String version = FoliotServer.class.getPackage().getImplementationVersion();
    return version == null ? "0.1.0-SNAPSHOT" : version;
  }

  /** Returns the port that the server listens on. */
  public int port() {
    return listener.port();
  }

  /** Returns the URL of the server, with the host of the configuration. */
  public String url() {
    String host = config.listen().host();
    return "http://" + (host.contains(":") ? "[" + host + "]" : host) + ":" + port();
  }

  /** Returns the engine. */
  public Scheduler scheduler() {
    return runtime.scheduler();
  }

  /**
   * Returns a future that completes if the server cannot continue: with a {@link StoreException} if the store has
   * closed itself, or with the failure of another part. The process should then end.
   */
  public CompletableFuture<Throwable> failure() {
    return failure;
  }

  private void failed(Throwable cause) {
    failure.complete(cause);
  }

  private List<String> warnings() {
    long lateMillis = latePasses.lateMillis(System.nanoTime());
    return lateMillis == 0
        ? List.of()
        : List.of("jobs are planned late, by up to " + Math.ceilDiv(lateMillis, 1_000) + " s: this server has"
            + " more planning passes than it can make, or finds them late; add a server, or let jobs run less often");
  }

  private List<String> troubles() {
    Throwable cause = failure.getNow(null);
    return cause == null
        ? Stream.concat(pulse.troubles().stream(), identity.troubles().stream()).toList()
        : List.of("the server has failed: " + cause.getMessage());
  }

  /**
   * Returns how many connections to accept. The result is the configured number, but at most half of the free file
   * descriptors, because callbacks and files need the other half. Logs a warning if the result is at least a tenth
   * below the configured number.
   */
  private static int connections(FoliotConfig config) {
    int wanted = config.limits().connections();
    long affordable = Math.max(1, Descriptors.free() / 2);
    if (affordable >= wanted || affordable > wanted - wanted / 10) {
      return (int) Math.min(wanted, affordable);
    }
    log.atWarn().addKeyValue("connections", affordable).addKeyValue("limits.connections", wanted)
        .addKeyValue("descriptors", Descriptors.limit())
        .log("The process may open too few files for the configured number of connections, so it accepts fewer. Raise"
            + " its limit (ulimit -n, LimitNOFILE), or lower limits.connections");
    return (int) affordable;
  }

  /** Refuses requests from now on, except for those of open routes. */
  void drain() {
    api.drain();
  }

  /** Ends readiness, and waits until a balancer has noticed that. Returns at once if no balancer checks this server. */
  private void leave() {
    api.leave();
    Duration grace = config.listen().stopGrace();
    if (grace.isZero() || !api.isChecked(CHECKED_WITHIN)) {
      return;
    }
    log.atInfo().addKeyValue("grace", grace).log("not ready any more; serving calls until a balancer has noticed");
    try {
      // A server that has failed cannot serve.
      Throwable unused = failure.copy().get(grace.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      // The grace is over.
    } catch (ExecutionException e) {
      throw new IllegalStateException("a failure is a result", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Stops: ends readiness and serves requests for the grace that a balancer needs, if one checks this server. Then
   * refuses new requests, claims no more tasks, waits for the attempts and requests under way, and closes the store.
   * The waits last at most the two configured times plus 1.5 s.
   */
  public synchronized void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    log.info("Foliot stops");
    leave();
    long deadline = System.nanoTime() + config.listen().stopTimeout().toNanos();
    drain();
    watchdog.close();
    Duration left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    try {
      // The engine stops first, because its stop ends the long polls of workers. Afterwards the engine still answers
      // calls that began before the stop.
      runtime.scheduler().stop(left).orTimeout(left.toMillis() + 1_000, TimeUnit.MILLISECONDS).join();
    } catch (CompletionException e) {
      log.warn("the engine did not stop in time; its tasks are claimed again when their leases end", e);
    }
    while (listener.underWay() > 0 && deadline - System.nanoTime() > 0) {
      LockSupport.parkNanos(DRAIN_POLL_NANOS);
    }
    listener.close();
    api.close();
    if (refresher != null) {
      refresher.interrupt();
    }
    runtime.store().close();
    prometheus.close();
    log.info("Foliot has stopped");
  }

  @Override
  public void close() {
    stop();
  }
}
