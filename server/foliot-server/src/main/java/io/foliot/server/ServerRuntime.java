package io.foliot.server;

import io.foliot.core.Meter;
import io.foliot.core.NodeName;
import io.foliot.core.Scheduler;
import io.foliot.core.ThreadEventLoop;
import io.foliot.core.TimeSource;
import io.foliot.core.delivery.Delivery;
import io.foliot.core.store.SealedException;
import io.foliot.core.store.StoreException;
import io.foliot.core.store.TaskStore;
import io.foliot.delivery.http.Cidr;
import io.foliot.delivery.http.HttpDelivery;
import io.foliot.delivery.http.HttpDeliveryOptions;
import io.foliot.delivery.http.PortRange;
import io.foliot.engine.Engine;
import io.foliot.engine.EngineOptions;
import io.foliot.engine.Environment;
import io.foliot.jobs.ClockCheck;
import io.foliot.jobs.JobHost;
import io.foliot.jobs.JobMeter;
import io.foliot.jobs.JobPlanner;
import io.foliot.jobs.Jobs;
import io.foliot.server.api.EngineWords;
import io.foliot.server.cluster.Coordinators;
import io.foliot.server.config.FoliotConfig;
import io.foliot.server.config.Option;
import io.foliot.server.store.PrivateFiles;
import io.foliot.server.store.Stores;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The parts of a server below the API: a store, an engine over the store, and the calls about recurring jobs.
 *
 * @param store the store of all tasks and settings
 * @param scheduler the started engine
 * @param jobs the calls about recurring jobs
 */
record ServerRuntime(TaskStore store, Scheduler scheduler, Jobs jobs) {
  private static final String NODE_FILE = "node";

  /**
   * Opens the store and starts the engine.
   *
   * @param loopback whether the server listens on a loopback address; callbacks may then go to this machine
   * @param onFailure called with the reason if the store closes itself
   * @throws StartException if the configuration or the store cannot be used
   */
  static ServerRuntime open(FoliotConfig config, boolean loopback, TimeSource clock, Meter meter, JobMeter jobMeter,
      SecureRandom random, Consumer<StoreException> onFailure) {
    Delivery http = http(config, loopback);
    TaskStore store = null;
    try {
      store = Stores.open(config.store(), clock, onFailure, task -> meter.quarantined(task.queue()));
      JobPlanner planner = new JobPlanner(store, jobMeter,
          new ClockCheck(clock::wallMillis, config.engine().maxClockOffset().toMillis()));
      Engine engine = engine(config, node(config, random), clock, store, List.of(http, planner), meter, random);
      engine.start().join();
      return new ServerRuntime(store, engine,
          planner.jobs(JobHost.of(engine::write, engine::findQueue, config.maxJobs())));
    } catch (RuntimeException e) {
      http.close();
      if (store != null) {
        store.close();
      }
      Throwable cause = e instanceof CompletionException && e.getCause() != null ? e.getCause() : e;
      if (store == null && cause instanceof IllegalArgumentException refused) {
        throw new StartException(StartException.Reason.CONFIGURATION,
            "store.kind (--store): " + refused.getMessage(), refused);
      }
      if (cause instanceof SealedException sealed) {
        throw new StartException(StartException.Reason.STORE, EngineWords.of(sealed.seal()), sealed);
      }
      throw cause instanceof StoreException refused
          ? new StartException(StartException.Reason.STORE, String.valueOf(refused.getMessage()), refused)
          : e;
    }
  }

  private static Delivery http(FoliotConfig config, boolean loopback) {
    FoliotConfig.Delivery rules = config.delivery();
    return new HttpDelivery(HttpDeliveryOptions.builder()
        .allowedNetworks(parsed(Option.ALLOW_NETWORK, rules.allowNetworks(), Cidr::parse))
        .deniedNetworks(parsed(Option.DENY_NETWORK, rules.denyNetworks(), Cidr::parse))
        .ports(parsed(Option.PORTS, rules.ports(), PortRange::parse)).allowLoopback(loopback)
        // A queue is often created before the DNS entry of its receiver. This is safe, because each attempt checks the
        // addresses again.
        .allowUnresolved(true)
        // The attempts in progress are at most twice the destination's limit. With a connection for each, no attempt
        // spends a part of its timeout waiting for a connection.
        .connectionsPerDestination(2 * config.delivery().destinationLimit()).version(FoliotServer.version()).build());
  }

  private static <T> List<T> parsed(Option<?> option, List<String> texts, Function<String, T> parse) {
    try {
      return texts.stream().map(parse).toList();
    } catch (IllegalArgumentException e) {
      throw new StartException(StartException.Reason.CONFIGURATION,
          option.key() + " (--" + option.flag() + "): " + e.getMessage(), e);
    }
  }

  private static Engine engine(FoliotConfig config, String node, TimeSource clock, TaskStore store,
      List<Delivery> deliveries, Meter meter, SecureRandom random) {
    FoliotConfig.Engine sizes = config.engine();
    EngineOptions options = EngineOptions.builder(node).zone(config.cluster().zone()).loops(sizes.loops())
        .windowMillis(sizes.window().toMillis()).wheelEntries(sizes.wheelEntries()).laneEntries(sizes.laneEntries())
        .readyEntries(sizes.readyEntries()).claimBatch(sizes.claimBatch()).callItems(sizes.callItems())
        .callBytes(sizes.callBytes()).leaseMarginMillis(sizes.leaseMargin().toMillis())
        .renewedLeaseMillis(sizes.renewedLease().toMillis())
        .maxClockOffsetMillis(sizes.maxClockOffset().toMillis())
        .destinationLimit(config.delivery().destinationLimit()).build();
    ThreadFactory threads = Thread.ofPlatform().name("foliot-loop-", 0).factory();
    return new Engine(options, new Environment(clock, () -> new ThreadEventLoop(clock, threads),
        new SplittableRandom(random.nextLong()), store, Coordinators.of(config.cluster(), clock, store),
        deliveries, meter));
  }

  // A node with a data folder keeps its name across restarts; two nodes on one machine have different names.
  private static String node(FoliotConfig config, SecureRandom random) {
    if (!config.cluster().node().isEmpty()) {
      return config.cluster().node();
    }
    String made = NodeName.ofThisHost(random);
    if (!config.store().hasFolder()) {
      return made;
    }
    Path file = config.store().data().resolve(NODE_FILE);
    try {
      String kept = Files.exists(file) ? Files.readString(file).strip() : "";
      if (!kept.isEmpty()) {
        PrivateFiles.restrictFile(file);
        return kept;
      }
      // The node takes a new name if the file does not exist yet, or if a full disk or a power loss has left it empty.
      PrivateFiles.write(file, made + "\n");
      return made;
    } catch (IOException e) {
      throw new StartException(StartException.Reason.STORE,
          "the data folder cannot be used; choose another with --data (store.data): file=" + file + ", error=" + e, e);
    }
  }
}
