package io.foliot;

import io.foliot.core.Meter;
import io.foliot.core.NodeName;
import io.foliot.core.TimeSource;
import io.foliot.core.Token;
import io.foliot.core.coordination.Coordinator;
import io.foliot.core.delivery.LocalDelivery;
import io.foliot.core.store.MemoryStore;
import io.foliot.core.store.TaskStore;
import io.foliot.engine.Engine;
import io.foliot.engine.EngineOptions;
import io.foliot.engine.Environment;
import io.foliot.engine.coordination.SoleCoordinator;
import io.foliot.engine.coordination.StoreCoordinator;
import io.foliot.jobs.ClockCheck;
import io.foliot.jobs.JobMeter;
import io.foliot.jobs.JobPlanner;
import io.foliot.jobs.ShardAllocator;
import io.foliot.store.jdbc.JdbcOptions;
import io.foliot.store.jdbc.JdbcStore;
import io.foliot.store.rocksdb.RocksDbOptions;
import io.foliot.store.rocksdb.RocksDbStore;
import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Executor;
import java.util.function.Function;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Builds a {@link Foliot}. Not safe for use by several threads. */
public final class FoliotBuilder {
  static final String JDBC_STORE = "io.foliot.store.jdbc.JdbcStore";

  /** Number of slots of a store in memory. There are few, because each head poll reads every slot. */
  private static final int MEMORY_SLOTS = 8;

  private final SecureRandom random = new SecureRandom();
  private @Nullable String node;
  private String zone = "";
  private @Nullable Executor handlers;
  private Meter meter = Meter.NONE;
  private @Nullable Driver driver;
  private @Nullable String apiKey;
  private final Map<String, ShardAllocator> allocators = new LinkedHashMap<>();
  private Duration patience = Duration.ofSeconds(10);

  FoliotBuilder() {}

  /**
   * Sets the name of this node in logs and in the cluster. It must be unique among the nodes that share a store. The
   * default is the host's name with a random suffix.
   */
  public FoliotBuilder node(String name) {
    node = name;
    return this;
  }

  /**
   * Sets the zone of this node, such as {@code fra1}; none by default. A job of the scope {@code PER_ZONE} runs in each
   * zone. {@linkplain Workers Workers} are in the zone of their node unless their builder sets another one.
   *
   * @param name from 1 to 64 characters of {@code A-Z a-z 0-9 . _ -}
   * @throws IllegalArgumentException if the name is not valid
   */
  public FoliotBuilder zone(String name) {
    if (!name.matches("[A-Za-z0-9._-]{1,64}")) {
      throw new IllegalArgumentException("zone: expected 1 to 64 of A-Z a-z 0-9 . _ -, but got \"" + name + '"');
    }
    zone = name;
    return this;
  }

  /**
   * Sets the executor that runs handlers. The executor must not reject work while Foliot is open. Foliot does not close
   * the executor. By default each attempt runs on a virtual thread of its own.
   */
  public FoliotBuilder handlers(Executor executor) {
    handlers = executor;
    return this;
  }

  /** Sets the meter that counts events. By default events are not counted. */
  public FoliotBuilder meter(Meter value) {
    meter = value;
    return this;
  }

  /** Sets the source of time and threads, for tests. {@link #handlers} then has no effect. */
  public FoliotBuilder driver(Driver value) {
    driver = value;
    return this;
  }

  /**
   * Registers an allocator: a function of the application that assigns the shards of a run to workers. A job names its
   * allocator with {@link io.foliot.api.Job.Builder#allocator}. All nodes of a store must register the same
   * allocators, because each node plans a part of the jobs.
   *
   * @param name from 1 to 64 characters of {@code A-Z a-z 0-9 . _ -}
   * @throws IllegalArgumentException if the name is not valid, or has an allocator already
   */
  public FoliotBuilder allocator(String name, ShardAllocator allocator) {
    if (!ShardAllocator.isName(name)) {
      throw new IllegalArgumentException("allocator: expected 1 to " + ShardAllocator.MAX_NAME
          + " of A-Z a-z 0-9 . _ -, but got \"" + name + '"');
    }
    if (allocators.putIfAbsent(name, allocator) != null) {
      throw new IllegalArgumentException("the name has an allocator already: allocator=" + name);
    }
    return this;
  }

  /** Sets the API key for {@link #connect}; none by default. */
  public FoliotBuilder apiKey(String key) {
    apiKey = key;
    return this;
  }

  /** Sets how long {@link Foliot#close} waits for handlers before it interrupts them; for tests. */
  FoliotBuilder patience(Duration duration) {
    patience = duration;
    return this;
  }

  private Driver driver() {
    return driver == null ? new ThreadDriver(handlers) : driver;
  }

  /** Opens tasks in a folder, as {@link Foliot#open} does. */
  public Foliot open(Path folder) {
    ensurePresent("io.foliot.store.rocksdb.RocksDbStore", "foliot-store-rocksdb");
    return assemble(clock -> RocksDbStore.open(folder, RocksDbOptions.DEFAULT, clock));
  }

  /** Opens tasks in a database, as {@link Foliot#on} does. */
  public Foliot on(DataSource dataSource) {
    ensurePresent(JDBC_STORE, "foliot-store-jdbc");
    return assemble(clock -> JdbcStore.open(JdbcOptions.of(dataSource)));
  }

  /**
   * Connects to a server, as {@link Foliot#connect} does. {@link #handlers}, {@link #meter}, {@link #driver} and
   * {@link #allocator} then have no effect.
   */
  public Foliot connect(URI server) {
    ensureClientPresent();
    return new DefaultFoliot(ClientBackend.connect(server, apiKey, nodeName(), zone, patience));
  }

  /** Opens tasks in memory, as {@link Foliot#inMemory} does. */
  public Foliot inMemory() {
    return assemble(
        clock -> new MemoryStore(MEMORY_SLOTS, clock, () -> new Token(random.nextLong(), random.nextLong())));
  }

  /**
   * Opens tasks in a store that the caller has opened. {@link Foliot#close} closes the store.
   *
   * @throws io.foliot.core.store.StoreException if the store cannot be used; the store is then closed
   */
  public Foliot on(TaskStore store) {
    return assemble(clock -> store);
  }

  /** Checks the node's name before it opens the store, and starts an engine over the store. */
  private Foliot assemble(Function<TimeSource, TaskStore> opening) {
    String name = nodeName();
    EngineOptions options = EngineOptions.builder(name).zone(zone).build();
    Driver chosen = driver();
    TaskStore store;
    try {
      store = opening.apply(chosen.clock());
    } catch (RuntimeException e) {
      chosen.close();
      throw e;
    }
    return start(store, chosen, options);
  }

  private Foliot start(TaskStore store, Driver chosen, EngineOptions options) {
    EngineBackend backend;
    try {
      backend = backend(store, chosen, options);
    } catch (RuntimeException e) {
      try (chosen) {
        store.close();
      }
      throw e;
    }
    try {
      backend.await(backend.start());
    } catch (RuntimeException e) {
      backend.close();
      throw e;
    }
    return new DefaultFoliot(backend);
  }

  private EngineBackend backend(TaskStore store, Driver chosen, EngineOptions options) {
    TimeSource clock = chosen.clock();
    LocalDelivery local = new LocalDelivery(chosen.handlers());
    Coordinator coordinator = store.isShared()
        ? new StoreCoordinator(store, clock, chosen.newLoop("foliot-coordination"))
        : new SoleCoordinator();
    JobPlanner planner = new JobPlanner(store, JobMeter.NONE, allocators,
        new ClockCheck(clock::wallMillis, options.maxClockOffsetMillis()));
    Engine engine = new Engine(options,
        new Environment(clock, () -> chosen.newLoop("foliot-loop"), new SplittableRandom(random.nextLong()), store,
            coordinator, List.of(local, planner), meter));
    return new EngineBackend(engine, store, local, planner, chosen, new OwnWorkers(options.node(), zone), patience);
  }

  /**
   * Ensures that the client's module is on the class path.
   *
   * @throws IllegalStateException if it is missing
   */
  static void ensureClientPresent() {
    ensurePresent("io.foliot.client.FoliotClient", "foliot-client");
  }

  private static void ensurePresent(String className, String artifact) {
    if (!isPresent(className)) {
      throw new IllegalStateException(
          "a module is missing on the class path: add the dependency io.foliot:" + artifact);
    }
  }

  /** Returns whether a class of an optional dependency is on the class path. */
  static boolean isPresent(String className) {
    try {
      Class.forName(className, false, FoliotBuilder.class.getClassLoader());
      return true;
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private String nodeName() {
    return node == null ? NodeName.ofThisHost(random) : node;
  }
}
