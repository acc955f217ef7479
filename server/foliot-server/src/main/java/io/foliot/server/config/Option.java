package io.foliot.server.config;

import io.foliot.cluster.zookeeper.ZooKeeperOptions;
import io.foliot.engine.EngineOptions;
import io.foliot.jobs.JobHost;
import io.foliot.server.text.SizeText;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.redis.RedisOptions;
import io.foliot.store.rocksdb.RocksDbOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

/**
 * An option of the server, which can be set in the file, in the environment or on the command line. The help of the
 * commands and docs/settings.md are made from this class.
 *
 * @param <T> the type of the values
 */
public final class Option<T> {
  private static final List<Option<?>> ALL = new ArrayList<>();
  /** The defaults of the engine and the stores, which are also the defaults of the server. */
  private static final EngineOptions ENGINE = EngineOptions.defaults("defaults");
  private static final RocksDbOptions ROCKSDB = RocksDbOptions.DEFAULT;
  private static final RedisOptions REDIS = RedisOptions.at("redis://" + Defaults.HOST);

  /** The address of the server. */
  public static final Option<String> HOST = of("server.host", "host", OptionType.TEXT, Defaults.HOST,
      "address to listen on; an address other than loopback needs API keys");
  /** The port of the server. */
  public static final Option<Integer> PORT = count("server.port", "port", 0, 65_535, Defaults.PORT,
      "port to listen on; 0 for any free one");
  /** The longest wait of a stop for attempts under way. */
  public static final Option<Duration> STOP_TIMEOUT = duration("server.stop-timeout", "stop-timeout",
      "0s", "1h", "10s", "how long a stop waits for attempts that are under way");
  // HAProxy checks a server every two seconds by default, and takes it out after three failed checks.
  /** The time from the end of readiness to the refusal of calls. */
  public static final Option<Duration> STOP_GRACE = duration("server.stop-grace", "stop-grace", "0s", "10m", "6s",
      "how long a stop serves calls on after /health/ready has become 503, so that a balancer can take the server out;"
          + " no time if /health/ready was not called within the last minute");
  /** The longest wait of a request. */
  public static final Option<Duration> CALL_TIMEOUT = duration("server.call-timeout", "call-timeout",
      "100ms", "10m", "30s", "how long a request waits for the store");
  // Clients commonly close idle connections sooner than this default. If the server closed an idle connection first, a
  // request that the client sends at that moment would be lost.
  /** The longest wait for a client in each phase of a request. */
  public static final Option<Duration> CLIENT_TIMEOUT = duration("server.client-timeout", "client-timeout",
      "1s", "1h", "2m", "how long a client may take to send the body of a request, and to read the answer and send the"
          + " head of the next request");

  /** The store. */
  public static final Option<String> STORE = of("store.kind", "store", OptionType.TEXT, "rocksdb",
      "rocksdb; jdbc:postgresql://..., jdbc:mariadb://..., jdbc:mysql://... or redis://... for a store that servers share; or memory, for trying"
          + " things out");
  /** The user of the database or of Redis. */
  public static final Option<String> STORE_USER = of("store.user", "store-user", OptionType.TEXT, "",
      "user of the database or of Redis");
  /** The password of the user of the database or of Redis. */
  public static final Option<String> STORE_PASSWORD = of("store.password", "store-password", OptionType.TEXT, "",
      "password of that user; set it in FOLIOT_STORE_PASSWORD, not where others can read it");
  /** The number of connections to the database. */
  public static final Option<Integer> STORE_CONNECTIONS = count("store.connections", "store-connections",
      2, 200, JdbcOptions.DEFAULT_CONNECTIONS, "connections to the database; calls wait for one of them");
  /** The data folder. */
  public static final Option<String> DATA = of("store.data", "data", OptionType.TEXT, Defaults.DATA,
      "folder of the store; one server uses it at a time");
  /** The prefix of keys that separates several stores on one Redis. */
  public static final Option<String> STORE_NAMESPACE = of("store.namespace", "store-namespace", OptionType.name(),
      Defaults.NAMESPACE, "prefix of every key in Redis; stores with different prefixes can share one Redis");
  /** The number of replicas of Redis that must have a write before the call is answered. */
  public static final Option<Integer> WAIT_REPLICAS = of("store.wait-replicas", "store-wait-replicas",
      OptionType.count(0, 16, 1), Integer.toString(REDIS.waitReplicas()),
      "replicas of Redis that must have a write before the call is answered");

  /** The disk space that is kept free. */
  public static final Option<Long> RESERVE = size("store.reserve", "store-reserve",
      "0", "1024GiB", ROCKSDB.reserveBytes(),
      "free disk space below which new tasks are refused, so that existing tasks still run");
  /** The heap for records. */
  public static final Option<Long> RECORD_CACHE = size("store.record-cache", "store-record-cache",
      "0", "1024GiB", ROCKSDB.recordCacheBytes(), "heap for tasks with keys and tasks that run");
  /** The native memory for files. */
  public static final Option<Long> BLOCK_CACHE = size("store.block-cache", "store-block-cache",
      "0", "1024GiB", ROCKSDB.blockCacheBytes(), "memory outside the heap for files of the store");
  /** The native memory for data that is not yet in files. */
  public static final Option<Long> WRITE_BUFFER = size("store.write-buffer", "store-write-buffer",
      "1MiB", "64GiB", ROCKSDB.writeBufferBytes(), "memory outside the heap for data that is not in files yet");
  /** The length of the store's log. */
  public static final Option<Long> LOG_SIZE = size("store.log-size", "store-log-size",
      "1MiB", "64GiB", ROCKSDB.logBytes(),
      "length of the store's log, which a start reads at about 60 MB a second");

  /** The way in which nodes find each other. */
  public static final Option<String> CLUSTER = of("cluster.coordinator", "cluster", OptionType.TEXT, "",
      "how servers find each other: store, none, or zookeeper://HOST:PORT,...; unless set, store for a kind of store"
          + " that servers can share, and none for the other kinds");
  /** The node's name. */
  public static final Option<String> NODE = of("cluster.node", "node", OptionType.name(), "",
      "name of this node; by default made from the host's name, and kept in the data folder if the store is there");
  /** The node's zone. */
  public static final Option<String> ZONE = of("cluster.zone", "zone", OptionType.name(), "",
      "data centre, rack or cell of this node");
  /** The time after which ZooKeeper treats a silent node as dead. */
  public static final Option<Duration> CLUSTER_SESSION_TIMEOUT = duration("cluster.session-timeout",
      "cluster-session-timeout", "1s", "5m", seconds(ZooKeeperOptions.SESSION_TIMEOUT.toMillis()),
      "how long ZooKeeper treats a silent node as alive; ZooKeeper's servers may bound this time");
  /** The user of ZooKeeper. */
  public static final Option<String> CLUSTER_USER = of("cluster.user", "cluster-user", OptionType.TEXT, "",
      "user of ZooKeeper's digest scheme; with it no other user may read or change Foliot's znodes");
  /** The password of the user of ZooKeeper. */
  public static final Option<String> CLUSTER_PASSWORD = of("cluster.password", "cluster-password", OptionType.TEXT, "",
      "password of that user; set it in FOLIOT_CLUSTER_PASSWORD, not where others can read it");
  /** The section of the JAAS configuration for ZooKeeper. */
  public static final Option<String> CLUSTER_SASL = of("cluster.sasl", "cluster-sasl", OptionType.name(), "",
      "section of the JVM's JAAS configuration for the SASL login to ZooKeeper, such as Client");
  /** The file of the certificates that prove ZooKeeper's identity. */
  public static final Option<String> CLUSTER_TRUST_STORE = of("cluster.trust-store", "cluster-trust-store",
      OptionType.TEXT, "",
      "file (.p12, .jks, .pem) of the certificates that prove ZooKeeper's identity; with it connections use TLS");
  /** The password of the trust store. */
  public static final Option<String> CLUSTER_TRUST_STORE_PASSWORD = of("cluster.trust-store-password",
      "cluster-trust-store-password", OptionType.TEXT, "", "password of that file");
  /** The file of the key and certificate that this node presents to ZooKeeper. */
  public static final Option<String> CLUSTER_KEY_STORE = of("cluster.key-store", "cluster-key-store", OptionType.TEXT,
      "", "file (.p12, .jks, .pem) of the key that this node shows to ZooKeeper");
  /** The password of the key store. */
  public static final Option<String> CLUSTER_KEY_STORE_PASSWORD = of("cluster.key-store-password",
      "cluster-key-store-password", OptionType.TEXT, "", "password of that file");

  /** The private networks that callbacks may reach. */
  public static final Option<List<String>> ALLOW_NETWORK = of("delivery.allow-network", "allow-network",
      OptionType.list("networks such as 10.0.0.0/8"), "",
      "private networks that callbacks may reach; public addresses are always permitted");
  /** The most concurrent attempts of one destination. */
  public static final Option<Integer> DESTINATION_LIMIT = count("delivery.destination-limit", "destination-limit",
      1, 100_000, ENGINE.destinationLimit(), "maximum number of concurrent attempts of one destination");

  /** The largest number of jobs. */
  public static final Option<Integer> MAX_JOBS = count("jobs.max", "max-jobs", 1, 100_000_000,
      (int) JobHost.MAX_JOBS, "maximum number of jobs in the store; a further job is refused");

  /** The largest payload. */
  public static final Option<Long> BODY = size("limits.body", "limit-body", "1KiB", "1MiB", 256 << 10,
      "largest payload of a task");
  /** The largest body of a batch. */
  public static final Option<Long> BATCH_BODY = size("limits.batch-body", "limit-batch-body",
      "1MiB", "256MiB", 16 << 20, "largest body of a call with many tasks or keys");
  /** The memory of all bodies together. */
  public static final Option<Long> WAITING_BYTES = size("limits.waiting-bytes", "limit-waiting-bytes",
      "2MiB", "8GiB", 128 << 20, "maximum total size of the bodies of all requests under way");
  /** The memory of all answers to reads together. All answers to writes together have a limit of the same size. */
  public static final Option<Long> ANSWER_BYTES = size("limits.answer-bytes", "limit-answer-bytes",
      "2MiB", "8GiB", 128 << 20,
      "maximum memory of all answers under way that list or show tasks or jobs, and never more than an eighth of the"
          + " heap; answers to writes have a separate maximum of the same size");
  /** The largest number of connections. */
  public static final Option<Integer> CONNECTIONS = count("limits.connections", "limit-connections",
      1, 1_000_000, 10_000, "maximum number of connections at once");
  /** The number of queues that have a label in the metrics. */
  public static final Option<Integer> METRIC_QUEUES = count("limits.metric-queues", "limit-metric-queues",
      0, 10_000, 200, "queues with a label of their own in metrics; the others share one label");

  /** The hash of the administrator's key. */
  public static final Option<String> ADMIN_KEY_HASH = of("security.admin-key-hash", "admin-key-hash",
      OptionType.sha256(), "", "SHA-256 of an API key that may do everything");
  /** The access to a server on loopback. */
  public static final Option<String> ACCESS = of("security.access", "access",
      OptionType.choice(Defaults.ACCESS, "keys", "open"), Defaults.ACCESS,
      "who may call a server on loopback. auto: every program of this machine until there is a first API key, and from"
          + " then on only callers with a key, even if the store loses its keys; keys: always only callers with a key;"
          + " open: as auto, but forgets at the start that this server has had keys, if its store has none");

  /** The format of logs. */
  public static final Option<String> LOG_FORMAT = of("log.format", "log-format", OptionType.choice("text", "json"),
      "text", "text for people, json for machines");
  /** The level of logs. */
  public static final Option<String> LOG_LEVEL = of("log.level", "log-level",
      OptionType.choice("error", "warn", "info", "debug"), "info", "lowest level that is logged");

  /** The folder of backups. */
  public static final Option<String> BACKUPS = of("backup.directory", "backup-directory", OptionType.TEXT, "",
      "folder that backups are written into; unless set, the folder named backups beside the store");

  /** The number of event loops. */
  public static final Option<Integer> LOOPS = count("engine.loops", "engine-loops", 1, 64, ENGINE.loops(),
      "event loops that share the slots");
  /** The length of the look-ahead, which is how far ahead of the due times the index is read. */
  public static final Option<Duration> WINDOW = duration("engine.window", "engine-window",
      "100ms", "10m", seconds(ENGINE.windowMillis()), "how far ahead the index is read into memory");
  /** The most ids in all wheels together. */
  public static final Option<Integer> WHEEL_ENTRIES = count("engine.wheel-entries", "engine-wheel-entries",
      1_000, 100_000_000, ENGINE.wheelEntries(), "maximum number of ids in memory that are due soon, 80 bytes each");
  /** The most ids in a lane. */
  public static final Option<Integer> LANE_ENTRIES = count("engine.lane-entries", "engine-lane-entries",
      10, 10_000_000, ENGINE.laneEntries(),
      "maximum number of due ids in memory per loop and queue; more are parked in the store");
  /** The most ids in all lanes of a loop together. */
  public static final Option<Integer> READY_ENTRIES = count("engine.ready-entries", "engine-ready-entries",
      10, 100_000_000, ENGINE.readyEntries(), "maximum number of due ids in memory per loop, of all queues");
  /** The most tasks of one batch of claims. */
  public static final Option<Integer> CLAIM_BATCH = count("engine.claim-batch", "engine-claim-batch",
      1, 10_000, ENGINE.claimBatch(), "maximum number of tasks in one batch of claims");
  /** The most tasks and keys of calls that wait for the store. */
  public static final Option<Integer> CALL_ITEMS = count("engine.call-items", "engine-call-items",
      10_000, 10_000_000, ENGINE.callItems(),
      "maximum number of tasks and keys of calls that wait for the store; further calls are refused");
  /** The most bytes of payloads of calls that wait for the store. */
  public static final Option<Long> CALL_BYTES = size("engine.call-bytes", "engine-call-bytes",
      "2MiB", "8GiB", ENGINE.callBytes(),
      "maximum size of the payloads of calls that wait for the store; further calls are refused");
  /** The time by which a lease outlasts the delivery's timeout. */
  public static final Option<Duration> LEASE_MARGIN = duration("engine.lease-margin", "engine-lease-margin",
      "100ms", "10m", seconds(ENGINE.leaseMarginMillis()), "by how much a lease outlasts the delivery's timeout");
  /** The length of leases that are renewed. */
  public static final Option<Duration> RENEWED_LEASE = duration("engine.renewed-lease", "engine-renewed-lease",
      "300ms", "10m", seconds(ENGINE.renewedLeaseMillis()),
      "length of the lease if the delivery's timeout is longer than this length; the node renews the lease while the"
          + " attempt lasts");
  /** The largest tolerated difference between this node's clock and the store's. */
  public static final Option<Duration> MAX_CLOCK_OFFSET = duration("engine.max-clock-offset", "engine-max-clock-offset",
      "100ms", "10m", seconds(ENGINE.maxClockOffsetMillis()),
      "how far this node's clock may be from the store's; if it is further, the node takes no slots of a cluster");

  private final String key;
  private final String flag;
  private final OptionType<T> type;
  private final String standard;
  private final String about;

  private Option(String key, String flag, OptionType<T> type, String standard, String about) {
    this.key = key;
    this.flag = flag;
    this.type = type;
    this.standard = standard;
    this.about = about;
  }

  private static Option<Integer> count(String key, String flag, int min, int max, int standard, String about) {
    return of(key, flag, OptionType.count(min, max, standard), Integer.toString(standard), about);
  }

  private static Option<Duration> duration(String key, String flag, String min, String max, String standard,
      String about) {
    return of(key, flag, OptionType.duration(min, max, standard), standard, about);
  }

  private static Option<Long> size(String key, String flag, String min, String max, long standard, String about) {
    String text = SizeText.format(standard);
    return of(key, flag, OptionType.size(min, max, text), text, about);
  }

  private static String seconds(long millis) {
    return millis / 1_000 + "s";
  }

  private static <T> Option<T> of(String key, String flag, OptionType<T> type, String standard, String about) {
    Option<T> option = new Option<>(key, flag, type, standard, about);
    ALL.add(option);
    return option;
  }

  /** Returns all options, in the order in which help and documents list them. */
  public static List<Option<?>> all() {
    return Collections.unmodifiableList(ALL);
  }

  /** Returns the options whose values are passwords, and {@link #STORE}, because an address may contain a password. */
  static List<Option<String>> secrets() {
    return List.of(STORE, STORE_PASSWORD, CLUSTER_PASSWORD, CLUSTER_TRUST_STORE_PASSWORD, CLUSTER_KEY_STORE_PASSWORD);
  }

  /** Returns the key of this option in the file, such as {@code server.port}. */
  public String key() {
    return key;
  }

  /** Returns the name of this option on the command line, without the hyphens, such as {@code port}. */
  public String flag() {
    return flag;
  }

  /** Returns the environment variable of this option, such as {@code FOLIOT_SERVER_PORT}. */
  public String variable() {
    return "FOLIOT_" + key.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
  }

  /** Returns the text of the default; may be empty. */
  public String standard() {
    return standard;
  }

  /** Returns the description of this option, in a few words. */
  public String about() {
    return about;
  }

  /** Returns whether messages must not show the value, because it is a password or the hash of a key. */
  boolean isSecret() {
    return key.endsWith("password") || equals(ADMIN_KEY_HASH);
  }

  /** Returns a description of the valid values. */
  public String expected() {
    return type.expected();
  }

  /** Reads a value. */
  T parse(String text) {
    return type.parse().apply(text);
  }

  @Override
  public String toString() {
    return key;
  }
}
