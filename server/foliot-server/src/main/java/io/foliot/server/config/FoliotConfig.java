package io.foliot.server.config;

import io.foliot.core.store.StoreAddress;
import io.foliot.store.jdbc.JdbcSource;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All settings of a server.
 *
 * @param listen the address of the server, and the time limits of stops and calls
 * @param store where tasks are kept
 * @param cluster the name of the node, and the way in which nodes find each other
 * @param delivery the limits of callbacks
 * @param maxJobs the largest number of jobs
 * @param limits the limits of callers
 * @param security the rules of access to the server
 * @param log the form and level of the log
 * @param engine the sizes and times of the engine
 */
public record FoliotConfig(Listen listen, Store store, Cluster cluster, Delivery delivery, int maxJobs,
    Limits limits, Security security, Log log, Engine engine) {

  /** The address of the server, and the time limits of stops, calls and clients. */
  public record Listen(String host, int port, Duration stopTimeout, Duration stopGrace, Duration callTimeout,
      Duration clientTimeout) {}

  /**
   * The store of tasks.
   *
   * @param kind {@code rocksdb}, {@code memory}, or the address of a database ({@code jdbc:...}) or of Redis
   *     ({@code redis://...})
   * @param data the folder of the embedded store and of other files of this server
   * @param backups the folder that backups are written into
   * @param sizes the memory of an embedded store, the length of its log, and the disk space that the store keeps free
   * @param login the login and the connections to a database or Redis
   */
  public record Store(String kind, Path data, Path backups, Sizes sizes, Login login) {
    /** The sizes of an embedded store, in bytes; see {@code RocksDbOptions}. */
    public record Sizes(long reserve, long recordCache, long blockCache, long writeBuffer, long log) {}

    /** The user and the password for a database or Redis (empty for none), and other parameters of connections. */
    public record Login(String user, String password, int connections, String namespace, int waitReplicas) {
      @Override
      public String toString() {
        return "Login[user=" + user + ", connections=" + connections + ", namespace=" + namespace + "]";
      }
    }

    @Override
    public String toString() {
      return "Store[" + name() + "]";
    }

    /** The kind of a store in memory, whose tasks are lost when the process ends. */
    public static final String MEMORY = "memory";
    /** The kind of a store in a folder of this machine. */
    public static final String ROCKSDB = "rocksdb";

    /** Returns whether tasks are kept in a database. */
    public boolean isJdbc() {
      return JdbcSource.Login.isSupported(kind);
    }

    /** Returns whether tasks are kept in Redis. */
    public boolean isRedis() {
      return kind.startsWith("redis:") || kind.startsWith("rediss:") || kind.startsWith("redis-sentinel:");
    }

    /** Returns whether tasks are kept in a database or in Redis. If they are, this server uses no data folder. */
    public boolean isRemote() {
      return isJdbc() || isRedis();
    }

    /** Returns whether tasks are kept in the data folder. If they are, the node's name is kept there, too. */
    public boolean hasFolder() {
      return kind.equals(ROCKSDB);
    }

    /** Returns the name of the store for people, without the user and password of an address. */
    public String name() {
      if (!isRemote()) {
        return kind.equals(MEMORY) ? kind : kind + ":" + data;
      }
      return StoreAddress.shown(kind);
    }

    /** Returns the folder of an embedded store, which is inside the data folder. */
    public Path folder() {
      return data.resolve("store");
    }
  }

  /**
   * The place of the node in a cluster.
   *
   * @param coordinator "none", "store", or the address of ZooKeeper ({@code zookeeper://...}); empty for
   *     the default, which depends on the store
   * @param node the name of the node; empty for a generated name
   * @param zone the data centre, rack or cell of the node
   * @param access the settings of the connections to ZooKeeper
   */
  public record Cluster(String coordinator, String node, String zone, Access access) {
    /** The settings of the connections to ZooKeeper. An empty string means that a setting is absent. */
    public record Access(Duration sessionTimeout, String user, String password, String sasl, String trustStore,
        String trustStorePassword, String keyStore, String keyStorePassword) {
      @Override
      public String toString() {
        return "Access[sessionTimeout=" + sessionTimeout + ", user=" + user + ", sasl=" + sasl + ", trustStore="
            + trustStore + ", keyStore=" + keyStore + "]";
      }
    }

    /** Returns whether nodes find each other through ZooKeeper. */
    public boolean isZooKeeper() {
      return coordinator.startsWith("zookeeper:");
    }
  }

  /** The private networks that callbacks may reach, and the limit of concurrent attempts of one destination. */
  public record Delivery(List<String> allowNetworks, int destinationLimit) {
    public Delivery {
      allowNetworks = List.copyOf(allowNetworks);
    }
  }

  /**
   * The limits of callers. The limits in bytes apply to a body, to the body of a batch, to all waiting bodies together,
   * and to all answers together. The others are the number of connections, and the number of queues that have a label
   * in the metrics.
   */
  public record Limits(int bodyBytes, int batchBytes, long waitingBytes, long answerBytes, int connections,
      int metricQueues) {}

  /**
   * The rules of access to the server.
   *
   * @param adminKeyHash SHA-256 of a key that may do everything, in hexadecimal digits; empty for none
   * @param access {@code auto}, {@code keys} or {@code open}; see {@link Option#ACCESS}
   */
  public record Security(String adminKeyHash, String access) {
    /** Returns whether every caller needs a key from the first start on. */
    public boolean needsKeys() {
      return access.equals("keys");
    }

    /** Returns whether a server on loopback may become open after it has had keys. */
    public boolean mayOpen() {
      return access.equals("open");
    }

    @Override
    public String toString() {
      return "Security[access=" + access + "]";
    }
  }

  /** The format and the level of logs. */
  public record Log(String format, String level) {
    /** Returns whether logs are JSON, for machines. */
    public boolean isJson() {
      return format.equals("json");
    }
  }

  /** The sizes of the engine; see {@code EngineOptions}. */
  public record Engine(int loops, Duration window, int wheelEntries, int laneEntries, int readyEntries, int claimBatch,
      int callItems, long callBytes, Duration leaseMargin, Duration renewedLease,
      Duration maxClockOffset) {}

  /**
   * Reads a configuration. The command line overrides the environment, which overrides the file.
   *
   * @param flags the values of the command line, by flag without its hyphens; a list is joined by commas
   * @param environment all variables; only those of Foliot are used
   * @param file {@code foliot.yaml}, or null for none
   * @throws ConfigException if one of these sources has a mistake
   */
  public static FoliotConfig load(Map<String, String> flags, Map<String, String> environment, @Nullable Path file) {
    Settings settings = new Settings();
    if (file != null) {
      settings.readFile(file);
    }
    settings.readEnvironment(environment);
    settings.readFlags(flags);
    return new FoliotConfig(listen(settings), store(settings), cluster(settings),
        new Delivery(settings.get(Option.ALLOW_NETWORK), settings.get(Option.DESTINATION_LIMIT)),
        settings.get(Option.MAX_JOBS), limits(settings),
        new Security(settings.get(Option.ADMIN_KEY_HASH), settings.get(Option.ACCESS)),
        new Log(settings.get(Option.LOG_FORMAT), settings.get(Option.LOG_LEVEL)),
        engine(settings));
  }

  /**
   * Returns those keys in a file whose values may contain a password.
   *
   * @throws ConfigException if the file cannot be read or has a mistake
   */
  public static List<String> secretsIn(Path file) {
    Settings settings = new Settings();
    settings.readFile(file);
    return Option.secrets().stream().filter(option -> !settings.get(option).isEmpty())
        .filter(option -> option != Option.STORE || hasPassword(settings.get(option))).map(Option::key).toList();
  }

  private static boolean hasPassword(String address) {
    return address.contains("@") || address.toLowerCase(Locale.ROOT).contains("password=");
  }

  private static Listen listen(Settings settings) {
    return new Listen(settings.get(Option.HOST), settings.get(Option.PORT), settings.get(Option.STOP_TIMEOUT),
        settings.get(Option.STOP_GRACE), settings.get(Option.CALL_TIMEOUT), settings.get(Option.CLIENT_TIMEOUT));
  }

  private static Store store(Settings settings) {
    String kind = settings.get(Option.STORE);
    Path data = path(settings, Option.DATA);
    boolean chosen = !settings.get(Option.BACKUPS).isEmpty();
    Store.Sizes sizes = new Store.Sizes(settings.get(Option.RESERVE), settings.get(Option.RECORD_CACHE),
        settings.get(Option.BLOCK_CACHE), settings.get(Option.WRITE_BUFFER), settings.get(Option.LOG_SIZE));
    Store store = new Store(kind, data, chosen ? path(settings, Option.BACKUPS) : data.resolve("backups"), sizes,
        new Store.Login(settings.get(Option.STORE_USER), settings.get(Option.STORE_PASSWORD),
            settings.get(Option.STORE_CONNECTIONS), settings.get(Option.STORE_NAMESPACE),
            settings.get(Option.WAIT_REPLICAS)));
    if (!store.hasFolder() && !kind.equals(Store.MEMORY) && !store.isRemote()) {
      throw settings.refuse(Option.STORE, "expected rocksdb, memory, jdbc:postgresql://HOST/DATABASE,"
          + " jdbc:mariadb://HOST/DATABASE, jdbc:mysql://HOST/DATABASE or redis://HOST, but got \"" + refused(kind)
          + "\"");
    }
    return store;
  }

  /**
   * Returns the scheme of an address, followed by "...": if the form of an address is unknown, its rest may be secret.
   * Returns a text without a colon unchanged.
   */
  private static String refused(String kind) {
    return kind.contains(":") ? StoreAddress.scheme(kind) + "..." : kind;
  }

  private static Path path(Settings settings, Option<String> option) {
    try {
      Path path = Path.of(settings.get(option));
      if (!path.toString().isEmpty()) {
        return path.toAbsolutePath().normalize();
      }
    } catch (InvalidPathException e) {
      // Refused below, as an empty path is.
    }
    throw settings.refuse(option, "expected the path of a folder");
  }

  private static Cluster cluster(Settings settings) {
    Cluster cluster = new Cluster(settings.get(Option.CLUSTER), settings.get(Option.NODE), settings.get(Option.ZONE),
        new Cluster.Access(settings.get(Option.CLUSTER_SESSION_TIMEOUT), settings.get(Option.CLUSTER_USER),
            settings.get(Option.CLUSTER_PASSWORD), settings.get(Option.CLUSTER_SASL),
            settings.get(Option.CLUSTER_TRUST_STORE), settings.get(Option.CLUSTER_TRUST_STORE_PASSWORD),
            settings.get(Option.CLUSTER_KEY_STORE), settings.get(Option.CLUSTER_KEY_STORE_PASSWORD)));
    if (!List.of("", "none", "store").contains(cluster.coordinator()) && !cluster.isZooKeeper()) {
      throw settings.refuse(Option.CLUSTER, "expected none, store or zookeeper://HOST:PORT,HOST:PORT, but got \""
          + refused(cluster.coordinator()) + "\"");
    }
    if (cluster.coordinator().contains("@")) {
      throw settings.refuse(Option.CLUSTER, "ZooKeeper's address has no user and no password; set cluster.user and"
          + " cluster.password");
    }
    Cluster.Access access = cluster.access();
    if (access.user().isEmpty() != access.password().isEmpty()) {
      throw settings.refuse(Option.CLUSTER_USER, "expected both a user and a password (cluster.password), or neither");
    }
    if (!access.user().isEmpty() && !access.sasl().isEmpty()) {
      throw settings.refuse(Option.CLUSTER_SASL,
          "the section of SASL already has a user; set either cluster.user or cluster.sasl");
    }
    if (!access.keyStore().isEmpty() && access.trustStore().isEmpty()) {
      throw settings.refuse(Option.CLUSTER_KEY_STORE, "a key store needs TLS; set cluster.trust-store, too");
    }
    return cluster;
  }

  private static Limits limits(Settings settings) {
    long batch = settings.get(Option.BATCH_BODY);
    long waiting = settings.get(Option.WAITING_BYTES);
    if (waiting < batch) {
      throw settings.refuse(Option.WAITING_BYTES,
          "expected at least limits.batch-body, so that the largest body has room;"
              + " raise limits.waiting-bytes, or lower limits.batch-body");
    }
    return new Limits(Math.toIntExact(settings.get(Option.BODY)), Math.toIntExact(batch), waiting,
        settings.get(Option.ANSWER_BYTES), settings.get(Option.CONNECTIONS), settings.get(Option.METRIC_QUEUES));
  }

  private static Engine engine(Settings settings) {
    return new Engine(settings.get(Option.LOOPS), settings.get(Option.WINDOW), settings.get(Option.WHEEL_ENTRIES),
        settings.get(Option.LANE_ENTRIES), settings.get(Option.READY_ENTRIES), settings.get(Option.CLAIM_BATCH),
        settings.get(Option.CALL_ITEMS), settings.get(Option.CALL_BYTES), settings.get(Option.LEASE_MARGIN),
        settings.get(Option.RENEWED_LEASE), settings.get(Option.MAX_CLOCK_OFFSET));
  }
}
